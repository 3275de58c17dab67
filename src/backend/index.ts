export {
  builtInModel,
  createEmbedder,
  fingerprintOf,
  type ModelCall,
  type ModelFunction,
  type ModelSource,
  readModelDirectory,
} from '../embedding/index.js';
export type { RecordForm } from '../store/record-store.js';
export type {
  Backend,
  BackendStats,
  BackupArchive,
  PageOptions,
  PageReply,
  Readiness,
  Scope,
} from './backend.js';
export { checkLines, SHORT_RECORD_BYTES } from './check-lines.js';
export { DataLock, LOCK_FILE } from './data-lock.js';
export { type ExamineAllCall, examineDirectory } from './doctor/index.js';
export { keptModels, keptModelsPath } from './kept-models.js';
export {
  copyRecords,
  type FeedEnd,
  type MigratedDatabase,
  migrateDatabase,
  type RecordSource,
  readFeedToEnd,
  settingsOf,
} from './migration/index.js';
export {
  BUILT_IN_MODEL,
  checkModelSources,
  isDirectory,
  isModelName,
  type ModelSources,
  Models,
} from './models.js';
export { beginBackend, type OpenProgress, openBackend, openStore, type StoreServer } from './open-backend.js';
