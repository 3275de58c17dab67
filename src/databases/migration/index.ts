export { type FeedEnd, readFeedToEnd } from './copy-feed.js';
export { copyRecords, type RecordSource } from './copy-records.js';
export {
  type MigratedDatabase,
  type MigrationTarget,
  migrateDatabase,
  settingsOf,
} from './migrate-database.js';
