/** The vector store for LangChain, for `require`. */
import type * as esm from './index.js' with { 'resolution-mode': 'import' };
import * as langchain from './index.js';

export type * from './index.js' with { 'resolution-mode': 'import' };

export const CosiftVectorStore: typeof esm.CosiftVectorStore = langchain.CosiftVectorStore;
