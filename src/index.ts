/** cosift as a library: `open` a data directory, and search it in this process. */

export { CosiftError, type ErrorCode, type Problem } from './errors.js';
export { Cosift, type OpenOptions, open } from './library/cosift.js';
export { type CallOptions, Database, type RecordInput, type SearchInput } from './library/database.js';
export type { ReembedOptions } from './reembed.js';
export type {
  BatchResult,
  Change,
  Changes,
  Condition,
  Data,
  DatabaseDescription,
  DatabaseSettings,
  DeleteRequest,
  FilterGroup,
  FilterRule,
  Operator,
  PageA,
  PageB,
  QueryRequest,
  RecordA,
  RecordB,
  Reembedding,
  SearchRequest,
  Variant,
} from './schema/index.js';
