// How options are written and read, in messages about a file.

/** Returns a text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w.,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the names of columns that an option gives. An option that is used once separates them by commas; one that is used
 * several times gives one name each time, which may have a comma. So may a name for which `isColumn` holds.
 */
export function columnNames(
  texts: readonly string[],
  isColumn: (name: string) => boolean = () => false,
): string[] {
  const [text = ''] = texts;
  if (texts.length > 1) return texts.map((name) => name.trim());
  return isColumn(text) ? [text] : text.split(',').map((name) => name.trim());
}

/** The formats that can be imported. */
export const FORMATS = ['ndjson', 'json', 'csv', 'tsv', 'parquet'] as const;
export type FormatName = (typeof FORMATS)[number];
