import { CosiftError } from '../../errors.js';
import type { SourceBatch } from '../source.js';
import { type ColumnReader, instantOfTime } from './column-readers.js';
import type { TableDefinition } from './definition.js';
import { BadValue, batchesOf, dataOf } from './row-values.js';

/** A row of texts, as a server writes its values: those of the key, the columns, and the two times. */
export type TextRow = readonly (string | null)[];

interface TextColumns {
  keyParts: number;
  columns: readonly ColumnReader[];
  times: TableDefinition['times'];
}

/** Makes records of the texts of rows. */
export function textBatches(
  rows: AsyncIterable<readonly TextRow[]>,
  { keyParts, columns, times }: TextColumns,
): AsyncGenerator<SourceBatch> {
  const partsOf = (row: TextRow) => row.slice(0, keyParts);
  return batchesOf(rows, partsOf, (row, key) => {
    if (partsOf(row).includes(null)) throw new BadValue('a column of the key is NULL');
    const texts = row.slice(keyParts);
    const values = columns.map((column, at) => column.read(texts[at] ?? null));
    const [created, changed] = texts.slice(columns.length);
    return {
      key,
      data: dataOf(columns, values),
      created: instantOfTime(times?.created ?? '', created ?? null),
      changed: instantOfTime(times?.changed ?? '', changed ?? null),
    };
  });
}

/** Refuses two rows with one key, which are neighbours. */
export async function* uniqueRows(
  batches: AsyncIterable<TextRow[]>,
  keyParts: number,
): AsyncGenerator<TextRow[]> {
  let last: string | undefined;
  for await (const batch of batches) {
    for (const row of batch) {
      const key = row.slice(0, keyParts);
      if (key.includes(null)) continue;
      const text = JSON.stringify(key);
      if (text === last)
        throw new CosiftError(
          'source_failed',
          `\`key\` does not identify the rows: two have ${key.join(', ')}`,
        );
      last = text;
    }
    yield batch;
  }
}
