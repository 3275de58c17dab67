/** cosift over HTTP: typed requests to a running service, with nothing but `fetch`. */

export { CosiftError, type ErrorCode, type Problem } from '../errors.js';
export type { ReembedOptions } from '../reembed.js';
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
  IssuedKey,
  KeyDescription,
  KeyRequest,
  NewRecord,
  Operator,
  PageA,
  PageB,
  QueryRequest,
  RecordA,
  RecordB,
  Reembedding,
  SearchRequest,
  Variant,
} from '../schema/index.js';
export { Client } from './client.js';
export { Database, type PageOf, type RecordOf } from './database.js';
export type { CallOptions, ClientOptions } from './transport.js';
