export {
  createEmbedder,
  fingerprintOf,
  installedModels,
  packagedModel,
  readModelDirectory,
} from '../embedding/index.js';
export { DataLock, LOCK_FILE } from '../store/local/data-lock.js';
export { ALIASES_FILE, LocalStore } from '../store/local/index.js';
export type { RecordForm } from '../store/record-store.js';
export { aliasNotFound } from './aliases.js';
export type { ChangesRequest } from './change-feed.js';
export { checkLines, shortRecordBytes } from './check-lines.js';
export type { ExamineAllCall } from './doctor/examine-all.js';
export { examineDirectory } from './doctor/examine-directory.js';
export { keptModels, keptModelsPath } from './kept-models.js';
export { type FeedEnd, readFeedToEnd } from './migration/copy-feed.js';
export { copyRecords, type RecordSource } from './migration/copy-records.js';
export {
  createTarget,
  type MigratedDatabase,
  type MigrationTarget,
  migrateDatabase,
} from './migration/migrate-database.js';
export {
  checkModelSources,
  isDirectory,
  isModelName,
  type ModelSources,
  Models,
} from './models.js';
export type { DatabaseStats } from './monitor.js';
export {
  beginDatabases,
  type DatabasesOptions,
  type OpenCall,
  openDatabases,
  openPostgres,
  type StoreServer,
  whenLoaded,
} from './open.js';
export type { PageOptions, PageReply } from './record-reader.js';
export type {
  SyncCallOptions,
  SyncDeletion,
  SyncGone,
  SyncHold,
  SyncPosition,
  SyncState,
  SyncTarget,
} from './record-writer.js';
export type { Scope } from './scope.js';
export { DatabaseService, type Readiness } from './service.js';
export type { ModelVectors } from './text-embedder.js';
export { languageNotice, TextLanguage } from './text-language.js';
