import { type Command, Option } from 'commander';
import type { Boost } from '../where/parse-boost.js';
import { boostOption } from './filter-options.js';
import { parseNumber, parseVector } from './option-values.js';
import { type ListingOptions, list, requestOf, withListingOptions } from './records/listing.js';
import { type PassageOptions, passagesOf, withPassageOptions } from './records/passage-options.js';
import { searchFile } from './records/search-file.js';
import { checkDatabase, targetCommand } from './target.js';

interface SearchOptions extends ListingOptions, PassageOptions {
  database: string;
  vector?: number[];
  threshold?: number;
  lexical?: number;
  prefix?: true;
  boost?: Boost[];
  highlights?: true;
  file?: string;
}

export function searchCommand(): Command {
  const command = targetCommand('search')
    .description('search a database by meaning')
    .argument('[text]', 'what to look for, in plain words')
    .requiredOption('--database <id>', 'database to search', checkDatabase)
    .option(
      '--vector <values>',
      'vector to search for, as JSON; with --lexical, a text may be given, too, for its words',
      parseVector,
    )
    .option(
      '--threshold <score>',
      'minimum relevance score, 0 to 1 (default: that of the database, or 0.2; with --lexical and --boost 0.2 · (1 - weights))',
      parseNumber,
    )
    .option(
      '--lexical <weight>',
      'weight of exact words in the score, 0 to 1 (default: that of the database, or 0)',
      parseNumber,
    )
    .option('--prefix', 'with --lexical, the last word may be the beginning of a word')
    .addOption(boostOption())
    .addOption(
      new Option(
        '--file <file>',
        'search for each line of a file; with --json, print a line for each',
      ).conflicts(['all', 'count', 'csv', 'vector']),
    )
    .option('--highlights', 'show which words match: bold in a terminal, as places with --json');
  return withListingOptions(withPassageOptions(command))
    .examples(
      'cosift search "a tall tower" --database facts',
      'cosift search "a tall tower" --database facts --threshold 0.4 --limit 3 --json',
      'cosift search "gustave eiffel" --database facts --lexical 0.3',
      'cosift search "a tall tower" --database facts --boost "0.3 by year near 1900 within 50"',
      `cosift search "a tall tower" --database facts --where "year < 1900 and country = 'France'"`,
      'cosift search "a tall tower" --database facts --all --csv --columns name,year > towers.csv',
      'cosift search --vector "[0.6, 0.8]" --database own',
      'cosift search --file queries.txt --database facts --limit 3 --json',
      'cosift search "a tall tower" --database facts --url http://127.0.0.1:8080',
    )
    .action(search);
}

async function search(text: string | undefined, options: SearchOptions): Promise<void> {
  const { database, vector, threshold, lexical, prefix, boost, highlights, file } = options;
  const query = { ...(text !== undefined && { text }), ...(vector && { vector }) };
  const isOne = text !== undefined || vector !== undefined;
  if (isOne === (file !== undefined)) throw new Error('give either a text, --vector or --file');
  if (text !== undefined && vector !== undefined && !lexical) {
    throw new Error('a text and --vector need --lexical: the weight of the words of the text');
  }
  const nothing = `no record reaches the threshold${threshold === undefined ? '' : ` ${threshold}`}`;
  const search = {
    ...(threshold !== undefined && { threshold }),
    ...(lexical !== undefined && { lexical }),
    ...(prefix && { prefix }),
    ...(boost !== undefined && { boosts: boost }),
  };
  const rest = { ...passagesOf(options), ...(highlights && { highlights }), ...requestOf(options) };
  if (file !== undefined) return await searchFile(database, file, { search, ...rest }, options, nothing);
  const request = { search: { ...query, ...search }, ...rest };
  await list(database, { kind: 'search', request }, options, nothing);
}
