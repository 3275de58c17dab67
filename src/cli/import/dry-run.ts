import { existsSync } from 'node:fs';
import path from 'node:path';
import type { NewRecord } from '../../api/index.js';
import { printable } from '../failure.js';
import { plural } from '../progress-bar.js';
import type { TargetOptions } from '../target.js';
import type { BadRows } from './bad-rows.js';
import type { Input } from './input.js';
import { describeInput } from './report.js';
import type { Row } from './rows.js';

const RECORDS_SHOWN = 3;
/** Characters of a record that are shown. */
const RECORD_LENGTH = 2_000;

const VECTOR =
  '/vector: the new database would have a model, which makes the vectors: give --dimensions for a database of your own';

/** Reads all rows as an import does, and prints what it would store. Writes nothing. */
export async function dryRun(
  input: Input,
  badRows: BadRows,
  { database, data, store, url, dimensions }: TargetOptions & { database: string; dimensions?: number },
  onProgress: (rows: number) => void,
): Promise<string[]> {
  const shown: string[] = [];
  let records = 0;
  const isNew =
    url === undefined && store === undefined && !existsSync(path.join(data, 'databases', database));
  // A new database without --dimensions has a model.
  const hasModel = isNew && dimensions === undefined;
  for await (const batch of input.records((row, reason) => badRows.add(row, reason))) {
    const refused = new Set(hasModel ? batch.filter(bringsVector) : []);
    for (const row of refused) badRows.add(row, VECTOR);
    const rows = batch.filter((row) => !refused.has(row));
    for (const { json } of rows.slice(0, RECORDS_SHOWN - shown.length)) {
      const text = printable(Buffer.from(json).toString().trimEnd());
      shown.push(text.length > RECORD_LENGTH ? `${text.slice(0, RECORD_LENGTH)}…` : text);
    }
    records += rows.length;
    onProgress(records);
  }
  const where =
    url !== undefined ? `the server ${url}` : store !== undefined ? 'the store' : `the directory ${data}`;
  const created = isNew ? `, which would be created in ${where}` : ` of ${where}`;
  return [
    ...describeInput(input),
    ...(shown.length > 0 ? ['first records:', ...shown.map((record) => `  ${record}`)] : []),
    `dry run: ${plural(records, 'record')} would be stored in the database "${database}"${created}; ` +
      `${plural(badRows.count, `bad ${input.format.unit}`)}; nothing is written`,
  ];
}

/** Returns whether a record has a vector of which it does not say that a model made it. */
function bringsVector({ json }: Row): boolean {
  const text = Buffer.from(json).toString();
  if (!text.includes('"vector":[')) return false;
  const { vector, embedded_by } = JSON.parse(text) as NewRecord;
  return vector !== undefined && vector !== null && embedded_by === undefined;
}
