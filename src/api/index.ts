/** What the library and the client share: interfaces, requests, results, filter helpers and errors. */

export {
  CosiftError,
  type ErrorCode,
  type ErrorFields,
  type Problem,
  type ProblemCode,
} from '../errors.js';
export type {
  ColumnChanges,
  ColumnName,
  Columns,
  ColumnValue,
  Data,
  LineEvent,
  Vector,
} from '../schema/public-types.js';
export type { Filter, FilterGroup, FilterRule } from '../schema/types/filter.js';
export type {
  ColumnSort,
  DatabaseChanges,
  DatabaseSettings,
  EmbeddedPassage,
  Facet,
  HistogramFacet,
  NewRecord,
  NewTimestamps,
  Sort,
  TimeFacet,
  TimeRange,
  TimeSort,
  ValuesFacet,
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
  HistogramCounts,
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
  TimeCounts,
  Timestamps,
  Total,
  ValuesCounts,
  WrittenRecord,
} from '../schema/types/responses.js';
export type { Database, RecordSource, SearchResult } from './database.js';
export type { Databases } from './databases.js';
export * from './filters.js';
export type {
  BackupOptions,
  CallOptions,
  ChangesRequest,
  DeleteOptions,
  ExportOptions,
  GetOptions,
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
} from './options.js';
