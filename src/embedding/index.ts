export type { Embedder, EmbedderOptions, EmbedderStats, EmbedOptions } from './embedder.js';
export { createEmbedder } from './local-embedder.js';
