/** cosift in the AI SDK: an embedding model and a tool, as plain objects. */

export { type AiEmbeddingModel, type EmbeddingModelOptions, embeddingModel } from './embedding-model.js';
export {
  type AiSearchTool,
  type Cut,
  type SearchToolOptions,
  type SearchToolOutput,
  type ShownRecord,
  searchTool,
} from './search-tool.js';
export type { StandardSchema } from './standard-schema.js';
