import { type Command, Option } from 'commander';
import { type ListingOptions, list, requestOf, withListingOptions } from './records/listing.js';
import { checkDatabase, targetCommand } from './target.js';

const TIMES = ['created_at', 'changed_at', 'synced_at'] as const;

interface QueryOptions extends ListingOptions {
  sort?: string;
  sortTime?: (typeof TIMES)[number];
  desc?: true;
}

export function queryCommand(): Command {
  const command = targetCommand('query')
    .summary('list the records of a database')
    .description('List the records of a database, by default those first that were written last.')
    .argument('<database>', 'database to list', checkDatabase)
    .option(
      '--sort <column>',
      'column to sort by: booleans, then numbers, then texts, then records without a value',
    )
    .addOption(new Option('--sort-time <name>', 'time to sort by').choices(TIMES).conflicts('sort'))
    .option('--desc', 'sort in descending order');
  return withListingOptions(command)
    .examples(
      `cosift query facts --where "country = 'France' and height_m is not empty" --sort height_m --desc`,
      'cosift query facts --count --since 2026-01-01',
      'cosift query facts --all --json > facts.ndjson',
    )
    .action(query);
}

async function query(database: string, options: QueryOptions): Promise<void> {
  const { sort: column, sortTime: time, desc } = options;
  const direction = desc ? 'desc' : 'asc';
  if (desc && column === undefined && time === undefined)
    throw new Error('--desc: give --sort or --sort-time, too');
  const request = {
    ...requestOf(options),
    ...(column !== undefined && { sort: { column, direction } as const }),
    ...(time !== undefined && { sort: { time, direction } as const }),
  };
  await list(database, { kind: 'query', request }, options, 'no record passes the filter');
}
