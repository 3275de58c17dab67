/** What has to be in quotes for every reader, and what an import could take for another separator or quote. */
const NEEDS_QUOTES = /^$|^[{[\ufeff]|[",;|'\t\r\n]/;

/** Returns a row of CSV (RFC 4180) without its line end. A missing value is an empty field, an empty text has quotes, a list is JSON. */
export function csvRow(values: readonly unknown[]): string {
  const row = values.map(fieldOf).join(',');
  // An empty line is no row.
  return row === '' ? '""' : row;
}

function fieldOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
