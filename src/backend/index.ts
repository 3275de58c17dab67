export type { Backend, BackendStats, PageReply, Readiness, Scope } from './backend.js';
export { batchesOfLines } from './line-batches.js';
export { checkModelDirectories } from './models.js';
export { beginBackend, type OpenProgress, openBackend } from './open-backend.js';
