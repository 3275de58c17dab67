import type { Command } from 'commander';
import type { Database, DeleteOptions } from '../api/index.js';
import { columnsOf, unknownColumns } from '../where/unknown-columns.js';
import { confirm } from './confirm.js';
import { whereOption } from './filter-options.js';
import { plural } from './progress-bar.js';
import { requestOf, type SelectionOptions, timeOption } from './records/listing.js';
import { withDatabase } from './records/near-names.js';
import { withOptionNames } from './records/option-names.js';
import { addId, idOf } from './records/record-id.js';
import { checkDatabase, openTarget, targetCommand } from './target.js';

/** Maximum number of ids that a request may have. */
const MAX_IDS = 1_000;

type Selection = Extract<DeleteOptions, { ids?: undefined }>;

interface DeleteCommandOptions extends SelectionOptions {
  id?: string[];
  ifChangedAt?: string;
  yes?: true;
  json?: true;
}

export function deleteCommand(): Command {
  return targetCommand('delete')
    .description('delete records by their ids, or by a filter and the time of their last write')
    .argument('<database>', 'the database', checkDatabase)
    .option('--id <id>', 'integer id, UUID, or key: and the key of a record; may be repeated', addId)
    .option('--if-changed-at <time>', 'delete the record of --id only if it was last changed at this time')
    .addOption(whereOption('filter that the records to delete satisfy').conflicts('id'))
    .addOption(timeOption('--since', 'later').conflicts('id'))
    .addOption(timeOption('--until', 'earlier').conflicts('id'))
    .option('--yes', 'do not ask before records that are not given by their ids are deleted')
    .option('--json', 'print the number of deleted records as JSON')
    .examples(
      'cosift delete facts --id 1 --id key:SKU-1',
      'cosift delete facts --id 1 --if-changed-at 2026-01-31T12:00:00.000Z',
      `cosift delete facts --where "country = 'Atlantis'" --yes`,
      'cosift delete facts --until 2026-01-01',
    )
    .action(deleteRecords);
}

async function deleteRecords(id: string, options: DeleteCommandOptions): Promise<void> {
  const { id: ids, where, ifChangedAt } = options;
  const { time_range: timeRange } = requestOf(options);
  if (ids === undefined && where === undefined && timeRange === undefined) {
    throw new Error('which records? Give --id, --where, --since or --until');
  }
  if (ifChangedAt !== undefined && ids?.length !== 1) throw new Error('--if-changed-at needs one --id');
  const selection = { filter: where, timeRange } as Selection;
  await using databases = await openTarget(options);
  try {
    await withDatabase(databases, id, async () => {
      const database = databases.database(id);
      // A misspelt column is empty in every record, so a filter such as "is empty" would delete all of them.
      const [unknown] = await unknownColumns(databases, id, columnsOf(where));
      if (unknown !== undefined) throw new Error(`nothing was deleted: ${unknown}`);
      if (ids === undefined && !options.yes && !(await isConfirmed(database, selection))) {
        console.log('nothing was deleted');
        process.exitCode = 1;
        return;
      }
      const deleted = await (ids === undefined
        ? database.delete(selection)
        : deleteAll(database, ids, ifChangedAt));
      console.log(
        options.json ? JSON.stringify({ deleted }) : deletedText(deleted, ids && new Set(ids).size),
      );
    });
  } catch (error) {
    throw withOptionNames(error);
  }
}

async function isConfirmed(database: Database, selection: Selection): Promise<boolean> {
  const page = await database.query({ ...selection, total: true, limit: 1 });
  const found = page.total?.value ?? 0;
  return found === 0 || (await confirm(`delete ${plural(found, 'record')} of "${database.id}"`, 'yes'));
}

async function deleteAll(database: Database, ids: string[], ifChangedAt?: string): Promise<number> {
  const toDelete = ids
    .map(idOf)
    .map((id) => (ifChangedAt === undefined ? id : { id, if_changed_at: ifChangedAt }));
  let deleted = 0;
  for (let at = 0; at < toDelete.length; at += MAX_IDS) {
    deleted += await database.delete({ ids: toDelete.slice(at, at + MAX_IDS) });
  }
  return deleted;
}

function deletedText(deleted: number, given: number | undefined): string {
  const text = `deleted ${plural(deleted, 'record')}`;
  if (given === undefined || given === deleted) return text;
  if (deleted > 0) return `${text}; there is no record for the other ids`;
  return `${text}; there is no record for ${given === 1 ? 'this id' : 'these ids'}`;
}
