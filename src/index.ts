/** cosift as a library: `open` a data directory, and search it in this process. */

export * from './common.js';
export { Cosift, type OpenOptions, open } from './library/cosift.js';
export { type CallOptions, Database, type RecordInput, type SearchInput } from './library/database.js';
