import type { Command } from 'commander';
import { defaultThreshold } from '../schema/limits.js';
import { parseNumber } from './option-values.js';
import { type ListingOptions, list, requestOf, withListingOptions } from './records/listing.js';
import { checkDatabase, targetCommand } from './target.js';

interface SearchOptions extends ListingOptions {
  database: string;
  threshold?: number;
  lexical?: number;
  passages?: true;
}

export function searchCommand(): Command {
  const command = targetCommand('search')
    .description('search a database by meaning')
    .argument('<text>', 'what to look for, in plain words')
    .requiredOption('--database <id>', 'database to search', checkDatabase)
    .option(
      '--threshold <score>',
      'minimum relevance score, 0 to 1 (default: 0.2; with --lexical 0.2 · (1 - weight))',
      parseNumber,
    )
    .option('--lexical <weight>', 'weight of exact words in the score, 0 to 1 (default: 0)', parseNumber)
    .option('--passages', 'with --json, show which passage of a long record matches best');
  return withListingOptions(command)
    .examples(
      'cosift search "a tall tower" --database facts',
      'cosift search "a tall tower" --database facts --threshold 0.4 --limit 3 --json',
      'cosift search "gustave eiffel" --database facts --lexical 0.3',
      `cosift search "a tall tower" --database facts --where "year < 1900 and country = 'France'"`,
      'cosift search "a tall tower" --database facts --all --csv --columns name,year > towers.csv',
      'cosift search "a tall tower" --database facts --url http://127.0.0.1:8080',
    )
    .action(search);
}

async function search(text: string, options: SearchOptions): Promise<void> {
  const { database, threshold, lexical, passages } = options;
  const least = threshold ?? defaultThreshold(lexical);
  const request = {
    search: {
      text,
      ...(threshold !== undefined && { threshold }),
      ...(lexical !== undefined && { lexical }),
    },
    ...(passages && { passages }),
    ...requestOf(options),
  };
  await list(database, { kind: 'search', request }, options, `no record reaches the threshold ${least}`);
}
