export { IterableSource } from './iterable-source.js';
export { Sync, type SyncSettings, type SyncStatus } from './sync.js';
export type { SyncCounts, SyncProgress } from './sync-progress.js';
