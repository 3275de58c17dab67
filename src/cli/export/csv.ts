import { csvRow } from '../csv-row.js';
import type { Columns } from './columns.js';
import type { ExportedRecord } from './records.js';

/** Yields CSV as an import reads it (RFC 4180): a header, then a row for each record. A missing value is an empty field. */
export async function* csvOf(
  batches: AsyncIterable<readonly ExportedRecord[]>,
  columns: Columns,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { identities, names } = columns;
  for (const name of names) checkName(name);
  yield Buffer.from(`${csvRow([...identities, ...names])}\n`);
  for await (const records of batches) {
    let text = '';
    for (const record of records) {
      columns.check(record);
      const { data } = record;
      const values = [
        ...identities.map((name) => record[name]),
        ...names.map((name) => columns.textOf(name, data)),
      ];
      text += `${csvRow(values)}\n`;
    }
    yield Buffer.from(text);
  }
}

function checkName(name: string): void {
  if (name === name.trim()) return;
  throw new Error(
    `the column "${name}" begins or ends with a space, which a header of CSV loses: export NDJSON or Parquet`,
  );
}
