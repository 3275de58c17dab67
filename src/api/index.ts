/** What the library and the client share: interfaces, requests, results and errors. */

export { CosiftError, type ErrorCode, type Problem } from '../errors.js';
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
  LineEvent,
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
export type {
  CallOptions,
  ChangesRequest,
  Database,
  FollowRequest,
  PageOf,
  PageOptions,
  RecordById,
  RecordOf,
  ReembedOptions,
} from './database.js';
export type { Databases } from './databases.js';
export type { RecordInput, SearchInput } from './inputs.js';
export type { LineChunks } from './line-chunks.js';
