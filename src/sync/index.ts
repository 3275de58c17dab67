export { type ConfiguredSync, checkEmbed, configuredSyncs } from './configured-syncs.js';
export { duration, millisecondsOf } from './duration.js';
export { IterableSource } from './iterable-source.js';
export type { SourceShape, SyncSource } from './source.js';
export {
  columnList,
  columnOrList,
  openTableSource,
  TABLE_SOURCE,
  type TableSource,
} from './sources/table-source.js';
export { Sync, type SyncSettings, type SyncStatus } from './sync.js';
export { describeSync, onChange } from './sync-description.js';
export type { SyncCounts, SyncProgress } from './sync-progress.js';
