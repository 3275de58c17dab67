export type { Embedder, EmbedderOptions, EmbedderStats, EmbedOptions, PassageOptions } from './embedder.js';
export type { Embedded } from './job.js';
export { createEmbedder } from './local-embedder.js';
