import type { Command } from 'commander';
import { DEFAULTS } from '../schema/limits.js';
import type { Boost } from '../where/parse-boost.js';
import { boostOption } from './filter-options.js';
import { parseNumber } from './option-values.js';
import { type ListingOptions, list, requestOf, withListingOptions } from './records/listing.js';
import { type PassageOptions, passagesOf, withPassageOptions } from './records/passage-options.js';
import { addId, idOf } from './records/record-id.js';
import { checkDatabase, targetCommand } from './target.js';

interface LikeOptions extends ListingOptions, PassageOptions {
  not?: string[];
  threshold?: number;
  boost?: Boost[];
}

export function likeCommand(): Command {
  const command = targetCommand('like')
    .description('search for records that are like examples')
    .argument('<database>', 'database to search', checkDatabase)
    .argument('<ids...>', 'integer ids, UUIDs, or key: and the keys of the examples', addId)
    .option('--not <id>', 'id of a record that the results are unlike; may be repeated', addId)
    .option(
      '--threshold <score>',
      `minimum relevance score, 0 to 1 (default: that of the database, or ${DEFAULTS.threshold}; with --boost ${DEFAULTS.threshold} · (1 - weights))`,
      parseNumber,
    )
    .addOption(boostOption());
  return withListingOptions(withPassageOptions(command))
    .examples(
      'cosift like facts 1',
      'cosift like facts 1 7 --not 3 --limit 3 --json',
      `cosift like facts key:eiffel-tower --where "country != 'France'"`,
    )
    .action(like);
}

async function like(database: string, ids: string[], options: LikeOptions): Promise<void> {
  const { not, threshold, boost } = options;
  const request = {
    search: {
      like: { positive: ids.map(idOf), ...(not && { negative: not.map(idOf) }) },
      ...(threshold !== undefined && { threshold }),
      ...(boost !== undefined && { boosts: boost }),
    },
    ...passagesOf(options),
    ...requestOf(options),
  };
  const nothing = `no other record reaches the threshold${threshold === undefined ? '' : ` ${threshold}`}`;
  await list(database, { kind: 'search', request }, options, nothing);
}
