export { type FeedEnd, readFeedToEnd } from './copy-feed.js';
export { type MigratedDatabase, migrateDatabase, settingsOf } from './migrate-database.js';
