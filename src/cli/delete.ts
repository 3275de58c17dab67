import type { Command } from 'commander';
import type { Database } from '../api/index.js';
import type { Filter } from '../schema/index.js';
import { confirm } from './confirm.js';
import { examples } from './examples.js';
import { plural } from './progress-bar.js';
import { columnsOf, unknownColumns, withDatabase } from './records/near-names.js';
import { withOptionNames } from './records/option-names.js';
import { idOf, parseRecordId } from './records/record-id.js';
import { checkDatabase, openTarget, type TargetOptions, targetCommand } from './target.js';
import { whereOption } from './where/parse-where.js';

/** Maximum number of ids that a request may have. */
const MAX_IDS = 1_000;

interface DeleteOptions extends TargetOptions {
  id?: string[];
  where?: Filter;
  yes?: true;
  json?: true;
}

export function deleteCommand(): Command {
  return targetCommand('delete')
    .description('delete records by their ids, or by a filter')
    .argument('<database>', 'the database', checkDatabase)
    .option('--id <id>', 'integer id, UUID, or key: and the key of a record; may be repeated', addId)
    .addOption(whereOption('filter that the records to delete satisfy').conflicts('id'))
    .option('--yes', 'do not ask before records that satisfy a filter are deleted')
    .option('--json', 'print the number of deleted records as JSON')
    .addHelpText(
      'after',
      examples(
        'cosift delete facts --id 1 --id key:SKU-1',
        `cosift delete facts --where "country = 'Atlantis'" --yes`,
      ),
    )
    .action(deleteRecords);
}

async function deleteRecords(id: string, options: DeleteOptions): Promise<void> {
  const { id: ids, where } = options;
  if (ids === undefined && where === undefined) throw new Error('which records? Give --id or --where');
  await using databases = await openTarget(options);
  try {
    await withDatabase(databases, id, async () => {
      const database = databases.database(id);
      // A misspelt column is empty in every record, so a filter such as "is empty" would delete all of them.
      const [unknown] = await unknownColumns(databases, id, columnsOf(where));
      if (unknown !== undefined) throw new Error(`nothing was deleted: ${unknown}`);
      if (where !== undefined && !options.yes && !(await isConfirmed(database, where))) {
        console.log('nothing was deleted');
        process.exitCode = 1;
        return;
      }
      const deleted = await deleteAll(database, ids, where);
      console.log(
        options.json ? JSON.stringify({ deleted }) : deletedText(deleted, ids && new Set(ids).size),
      );
    });
  } catch (error) {
    throw withOptionNames(error);
  }
}

async function isConfirmed(database: Database, filter: Filter): Promise<boolean> {
  const page = await database.query({ filter, total: true, limit: 1 });
  const found = page.total?.value ?? 0;
  return found === 0 || (await confirm(`delete ${plural(found, 'record')} of "${database.id}"`, 'yes'));
}

async function deleteAll(
  database: Database,
  ids: string[] | undefined,
  filter: Filter | undefined,
): Promise<number> {
  if (ids === undefined) return filter === undefined ? 0 : database.delete({ filter });
  let deleted = 0;
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    deleted += await database.delete({ ids: ids.slice(at, at + MAX_IDS).map(idOf) });
  }
  return deleted;
}

function deletedText(deleted: number, given: number | undefined): string {
  const text = `deleted ${plural(deleted, 'record')}`;
  if (given === undefined || given === deleted) return text;
  if (deleted > 0) return `${text}; there is no record for the other ids`;
  return `${text}; there is no record for ${given === 1 ? 'this id' : 'these ids'}`;
}

function addId(text: string, before: string[] = []): string[] {
  return [...before, parseRecordId(text)];
}
