export type {
  Backend,
  BackendStats,
  DatabaseState,
  PageOptions,
  PageReply,
  Readiness,
  Scope,
} from './backend.js';
export { batchesOfLines } from './line-batches.js';
export { checkModelDirectories, type ModelDirectories } from './models.js';
export { type BackendOptions, beginBackend, openBackend } from './open-backend.js';
