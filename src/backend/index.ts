export type {
  Backend,
  BackendStats,
  DatabaseState,
  PageOptions,
  PageReply,
  Readiness,
  Scope,
} from './backend.js';
export { batchesOfLines } from './lines.js';
export { LocalBackend, type LocalOptions } from './local-backend.js';
export { checkModelDirectories, type ModelDirectories } from './models.js';
