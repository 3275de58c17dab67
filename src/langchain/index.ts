/** cosift in LangChain: a vector store. */

export {
  CosiftVectorStore,
  type CosiftVectorStoreOptions,
  type DeleteParameters,
  type DocumentDatabase,
} from './vector-store.js';
