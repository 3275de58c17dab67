/** What the library and the client share: interfaces, requests, results, filter helpers and errors. */

export {
  CosiftError,
  type ErrorCode,
  type ErrorFacts,
  type ErrorFields,
  type Problem,
  type ProblemCode,
} from '../errors.js';
export type {
  Action,
  ColumnChanges,
  ColumnName,
  ColumnOf,
  Columns,
  ColumnValue,
  Condition,
  Data,
  LineEvent,
  NumberColumn,
  Operand,
  Operator,
  TextColumn,
  Vector,
} from '../schema/public-types.js';
export type * from '../schema/types/filter.js';
export type {
  ColumnSort,
  DatabaseSettings,
  Embed,
  EmbeddedPassage,
  Facet,
  HistogramFacet,
  NewRecord,
  NewTimestamps,
  Sort,
  TimeFacet,
  TimeRange,
  TimeRangeFrom,
  TimeRangeUntil,
  TimeSort,
  ValuesFacet,
} from '../schema/types/requests.js';
export type * from '../schema/types/responses.js';
export { Database, type DataToWrite, type RecordSource, type SearchResult } from './database.js';
export type { Databases } from './databases.js';
export * from './filters.js';
export type { LineChunks } from './line-chunks.js';
export type {
  BackupOptions,
  BackupProgress,
  CallOptions,
  ChangesRequest,
  DeleteOptions,
  ExportOptions,
  FollowRequest,
  MapOptions,
  PageOptions,
  Query,
  QueryOptions,
  ReembedOptions,
  ScoreOptions,
  SearchOptions,
  SelectOptions,
  UpsertLinesOptions,
  UpsertOptions,
  UpsertProgress,
} from './options.js';
