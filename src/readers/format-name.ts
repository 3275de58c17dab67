/** The formats that can be imported. */
export const FORMATS = ['ndjson', 'json', 'csv', 'tsv', 'parquet'] as const;
export type FormatName = (typeof FORMATS)[number];
