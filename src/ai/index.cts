/** The objects for the AI SDK, for `require`. */
import type * as esm from './index.js' with { 'resolution-mode': 'import' };
import * as ai from './index.js';

export type * from './index.js' with { 'resolution-mode': 'import' };

export const embeddingModel: typeof esm.embeddingModel = ai.embeddingModel;
export const searchTool: typeof esm.searchTool = ai.searchTool;
