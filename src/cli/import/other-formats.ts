/** First bytes of files that cannot be imported, and what to do with them. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['PK\u0003\u0004', 'a ZIP archive or a spreadsheet: extract it, or save it as CSV'],
  ['\u00d0\u00cf\u0011\u00e0', 'a spreadsheet: save it as CSV'],
  ['BZh', 'compressed by bzip2: decompress it with `bzip2 -d`'],
  ['\u00fd7zXZ', 'compressed by xz: decompress it with `xz -d`'],
  ['SQLite format 3', 'a SQLite database: export its table as CSV'],
  ['%PDF-', 'a PDF document'],
  ['ARROW1', 'an Arrow file: save it as Parquet'],
  ['Obj\u0001', 'an Avro file: save it as Parquet or JSON'],
];

/** @throws {Error} for the beginning of a file in a known format that cannot be imported. */
export function refuseOtherFormats(head: Uint8Array): void {
  const text = Buffer.from(head).toString('latin1');
  const other = OTHERS.find(([magic]) => text.startsWith(magic));
  if (other !== undefined) throw new Error(`the file is ${other[1]}`);
}
