/** What the library and the client both speak of: errors, requests and answers. */

export { CosiftError, type ErrorCode, type Problem } from './errors.js';
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
  Facet,
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
