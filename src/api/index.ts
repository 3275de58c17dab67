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
export type { Filter, FilterGroup, FilterRule } from '../schema/types/filter.js';
export type {
  DatabaseSettings,
  Embed,
  EmbeddedPassage,
  Facet,
  NewRecord,
  NewTimestamps,
  Sort,
  TimeRange,
} from '../schema/types/requests.js';
export type {
  BatchResult,
  Change,
  Changes,
  ColumnDescription,
  DatabaseDescription,
  DoctorCheck,
  DoctorProblem,
  FacetCounts,
  LineFailure,
  LineProblem,
  LineProgress,
  LineSummary,
  MapPoint,
  Page,
  PagePosition,
  Passage,
  Points,
  Reembedding,
  StoredRecord,
  Timestamps,
  Total,
  WrittenRecord,
} from '../schema/types/responses.js';
export type { Database, DataToWrite, RecordSource, SearchResult } from './database.js';
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
