/**
 * How the schemas become TypeScript: the names of the types, by file. A component is public if it is listed here or in
 * `INTERNAL`. `T` is the type of the data of a record.
 */
export const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  filter: {
    FilterRule: 'FilterRule<T = Data>',
    FilterGroup: 'FilterGroup<T = Data>',
    FilterNode: 'Filter<T = Data>',
  },
  requests: {
    Search: 'Search<T = Data>',
    TimeRange: 'TimeRange',
    Pagination: 'Pagination',
    ValuesFacet: 'ValuesFacet<T = Data>',
    HistogramFacet: 'HistogramFacet<T = Data>',
    TimeFacet: 'TimeFacet',
    Facet: 'Facet<T = Data>',
    Sort: 'Sort<T = Data>',
    SearchRequest: 'SearchRequest<T = Data>',
    QueryRequest: 'QueryRequest<T = Data>',
    MapRequest: 'MapRequest<T = Data>',
    NewTimestamps: 'NewTimestamps',
    EmbeddedPassage: 'EmbeddedPassage',
    NewRecord: 'NewRecord<T = Data>',
    RecordPatch: 'RecordPatch',
    DeleteRequest: 'DeleteRequest<T = Data>',
    ValueFormats: 'ValueFormats',
    DatabaseSettings: 'DatabaseSettings<T = Data>',
    DatabaseChanges: 'DatabaseChanges<T = Data>',
    AliasRequest: 'AliasRequest',
    EmbeddingsRequest: 'EmbeddingsRequest',
    ReembeddingRequest: 'ReembeddingRequest',
    KeyRequest: 'KeyRequest',
    WebhookRequest: 'WebhookRequest',
  },
  responses: {
    Timestamps: 'Timestamps',
    Passage: 'Passage',
    BestPassage: 'BestPassage',
    Record: 'StoredRecord<T = Data>',
    Page: 'Page<Item>',
    Point: 'MapPoint<T = Data>',
    Points: 'Points<T = Data>',
    PagePosition: 'PagePosition',
    Total: 'Total',
    ValuesCounts: 'ValuesCounts',
    HistogramCounts: 'HistogramCounts',
    TimeCounts: 'TimeCounts',
    FacetCounts: 'FacetCounts',
    BatchResult: 'BatchResult',
    LineProblem: 'LineProblem',
    LineProgress: 'LineProgress',
    LineSummary: 'LineSummary',
    LineFailure: 'LineFailure',
    Change: 'Change',
    Changes: 'Changes',
    DatabaseDescription: 'DatabaseDescription',
    Alias: 'Alias',
    DoctorCheck: 'DoctorCheck',
    Reembedding: 'Reembedding',
    SyncDescription: 'SyncDescription',
    KeyDescription: 'KeyDescription',
    IssuedKey: 'IssuedKey',
    WebhookDescription: 'WebhookDescription',
    CreatedWebhook: 'CreatedWebhook',
    WebhookDelivery: 'WebhookDelivery',
    Problem: 'ProblemBody',
  },
};

/** Components that only the HTTP interface has, or whose types are written by hand. */
export const INTERNAL: ReadonlySet<string> = new Set([
  'Data',
  'NewData',
  'FilterBoost',
  'NearnessBoost',
  'Boost',
  'Batch',
  'LineEvent',
  'DeleteResult',
  'AliasList',
  'DatabaseList',
  'Embeddings',
  'KeyList',
  'OwnKey',
  'SyncList',
  'SyncConfirmation',
  'SyncPosition',
  'SyncHold',
  'SyncCommit',
  'SearchesRequest',
  'SearchOutcome',
  'SearchOutcomes',
  'McpMessage',
  'WebhookList',
  'Health',
]);

/** Types of members that JSON Schema cannot express: `T` types columns, and the library converts the other values. */
export const MEMBERS: Readonly<Record<string, string>> = {
  'HistogramFacet.column': 'NumberColumn<T>',
  'SearchRequest.filter': 'Filter<T>',
  'QueryRequest.filter': 'Filter<T>',
  'MapRequest.filter': 'Filter<T>',
  'SearchRequest.columns[]': 'ColumnName<T>',
  'QueryRequest.columns[]': 'ColumnName<T>',
  'MapRequest.columns[]': 'ColumnName<T>',
  'SearchRequest.distinct': 'ColumnName<T> | { column: ColumnName<T>; counts?: boolean | undefined }',
  'QueryRequest.distinct': 'ColumnName<T> | { column: ColumnName<T>; counts?: boolean | undefined }',
  'QueryRequest.sort': 'Sort<T>',
  'DeleteRequest.ids[]': 'number | string | { id: number | string; if_changed_at: string }',
  'DeleteRequest.filter': 'Filter<T>',
  'DatabaseSettings.embed.columns[]': 'ColumnName<T>',
  'DatabaseSettings.lexical': 'boolean | { columns: Readonly<Record<string, number>> }',
  'DatabaseChanges.lexical': 'boolean | { columns: { [column: string]: number | null } } | null',
  'DatabaseDescription.lexical': 'boolean | { columns: Record<string, number> }',
  'DatabaseChanges.embed.columns[]': 'ColumnName<T>',
  'DatabaseChanges.formats': '{ [column: string]: string | null } | null',
  'KeyRequest.actions[]': 'Action',
  'KeyRequest.databases[]': 'string',
  'KeyDescription.actions[]': 'Action',
  'KeyDescription.databases[]': 'string',
  'Search.vector': 'Vector',
  'Search.boosts[]': 'Boost<T>',
  'NewRecord.vector': 'Vector',
  'StoredRecord.highlights': '{ [Column in ColumnName<T>]?: [start: number, end: number][] }',
  'Page.results[]': 'Item',
  'Points.points[]': 'MapPoint<T>',
  'MapPoint.data': 'Partial<T>',
  'LineProblem.code': 'ProblemCode',
  'LineFailure.code': 'ErrorCode',
  'ProblemBody.code': 'ErrorCode',
  'ProblemBody.errors[]': 'Problem',
};

/** Names of the alternatives of a schema, by the member that only this alternative requires. */
export const ALTERNATIVES: Readonly<Record<string, string>> = {
  'Search.text': 'TextSearch<T = Data>',
  'Search.vector': 'VectorSearch<T = Data>',
  'Search.like': 'LikeSearch<T = Data>',
  'Sort.column': 'ColumnSort<T = Data>',
  'Sort.time': 'TimeSort',
  'DeleteRequest.ids': 'DeleteByIds',
  'DeleteRequest.filter': 'DeleteByFilter<T = Data>',
  'DeleteRequest.time_range': 'DeleteByTime<T = Data>',
  'DeleteRequest.time_range.start_time': 'TimeRangeFrom',
  'DeleteRequest.time_range.end_time': 'TimeRangeUntil',
};

/** Names of the rules whose operators take the same values, by the first of these operators. */
export const RULES: Readonly<Record<string, string>> = {
  equals: 'ScalarRule',
  greater_than: 'NumberRule',
  contains: 'TextRule',
  is_empty: 'EmptyRule',
  in: 'ListRule',
  before: 'TimeRule',
};

/** Components that exclude each other, by the component that chooses one of them: none has members of the others. */
export const EXCLUSIVE: Readonly<Record<string, string>> = {
  ValuesFacet: 'Facet',
  HistogramFacet: 'Facet',
  TimeFacet: 'Facet',
  ValuesCounts: 'FacetCounts',
  HistogramCounts: 'FacetCounts',
  TimeCounts: 'FacetCounts',
};

/** Interfaces that have all members of another one. */
export const EXTENDS: Readonly<Record<string, string>> = {
  IssuedKey: 'KeyDescription',
  CreatedWebhook: 'WebhookDescription',
};

/** Names of nested objects. Others are written where they are used. */
export const NESTED: Readonly<Record<string, string>> = {
  'BatchResult.results[]': 'WrittenRecord',
  'DatabaseDescription.columns[]': 'ColumnDescription',
  'DoctorCheck.problems[]': 'DoctorProblem',
};

/** Types that depend on `T` in ways that no schema describes, by file. */
export const TYPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  requests: {
    Boost: `
/** A part of the relevance score that depends on the data or the times of the record. */
type Boost<T = Data> = {
  /** Weight of the boost in the relevance score, from 0 to 1. The weights of a search are at most 1 together. */
  weight: number;
} & (
  | {
      /** The boost is 1 where the filter passes, otherwise 0. */
      filter: Filter<T>;
      column?: undefined;
      time?: undefined;
      target?: undefined;
      scale?: undefined;
    }
  | (Nearness & {
      /** The column of the value: a number, or with a \`target\` that is a text a string that is a date or a time. */
      column: ColumnName<T>;
      time?: undefined;
    })
  | (Nearness & {
      /** The time of the record that is the value. */
      time: 'created_at' | 'changed_at' | 'synced_at';
      column?: undefined;
    })
);
`,
    Nearness: `
/** The boost is max(0, 1 - |value - target| / scale); 0 for a record without a value. */
interface Nearness {
  /**
   * The value that counts most: a number, or a date or time in ISO 8601; of a time of the record also milliseconds since
   * 1970.
   */
  target: number | string;
  /**
   * The distance from which on a value counts nothing, above 0; for times an ISO 8601 duration of weeks, days, hours,
   * minutes and seconds, such as \`P30D\` or \`PT12H\`, or milliseconds.
   */
  scale: number | string;
  filter?: undefined;
}
`,
  },
  filter: {
    EqualityRule: `
// Intersections, because the compiler cannot resolve \`Extract\` in a function that is generic in the type of the records.
/** The rules that compare a column of \`T\` with values of the column's type, or of the elements of its lists. */
type EqualityRule<T = Data> = { [Column in ColumnName<T>]-?:
  | ScalarRule<Column, T[Column] & (string | number | boolean)>
  | ListRule<Column, T[Column] & (string | number | boolean)>
  | ScalarRule<Column, ElementOf<T[Column]>> | ListRule<Column, ElementOf<T[Column]>>
}[ColumnName<T>];
`,
  },
};

/** Modules of the types that are written by hand, relative to the generated files. */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  '../../errors.js': ['ErrorCode', 'Problem', 'ProblemCode'],
  '../columns.js': ['ColumnName', 'Data', 'ElementOf', 'NumberColumn', 'TextColumn', 'Vector'],
  '../keys.js': ['Action'],
};
