import type { Command } from 'commander';
import { type OrderedJson, type OrderedObject, writeOrdered } from './ordered-json.js';
import { outputWidth, writeLines } from './output.js';
import { withDatabase } from './records/near-names.js';
import { openReader } from './records/reader.js';
import { parseRecordId } from './records/record-id.js';
import { checkDatabase, type TargetOptions, targetCommand } from './target.js';

interface GetOptions extends TargetOptions {
  json?: true;
  vectors?: true;
}

export function getCommand(): Command {
  return targetCommand('get')
    .description('show a record')
    .argument('<database>', 'the database', checkDatabase)
    .argument('<id>', 'integer id, UUID, or key: and the key of the record', parseRecordId)
    .option('--json', 'print the record as JSON')
    .option('--vectors', 'show the stored vectors, too')
    .examples(
      'cosift get facts 1',
      'cosift get products key:SKU-1 --json',
      'cosift get facts 7 --url http://127.0.0.1:8080',
    )
    .action(get);
}

async function get(database: string, id: string, options: GetOptions): Promise<void> {
  await using reader = await openReader(options);
  const record = await withDatabase(reader.databases, database, () =>
    reader.record(database, id, options.vectors === true),
  );
  if (record === undefined) throw new Error(`there is no record ${id} in "${database}"`);
  if (options.json) return await writeLines([writeOrdered(record, '  ')]);
  const { table } = await import('./table.js');
  await writeLines([table(['member', 'value'], rowsOf(record), outputWidth())]);
}

/** A row for each member; those of the data and of the times are under their own names. */
function rowsOf(record: OrderedObject): string[][] {
  return [...record].flatMap(([name, value]) =>
    value instanceof Map
      ? rowsOf(value).map(([member = '', text = '']) => [`${name}.${member}`, text])
      : [[name, textOf(value)]],
  );
}

function textOf(value: OrderedJson): string {
  return typeof value === 'object' ? writeOrdered(value) : String(value);
}
