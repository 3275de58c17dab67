export { createEmbedder } from './create-embedder.js';
export type { EmbeddedTexts, Embedder, EmbedderOptions, EmbedderStats, EmbedOptions } from './embedder.js';
export { fingerprintOf } from './fingerprint.js';
export { readModelDirectory } from './model-directory.js';
export type { ModelCall, ModelFunction, ModelSource } from './model-source.js';
export { installedModels, packagedModel } from './packaged-model.js';
export { placeholderVectors } from './placeholder-vectors.js';
export { anyUnitVector } from './queued-embedder.js';
export { shortLength } from './split-text.js';
