import { type Command, InvalidArgumentError } from 'commander';
import { parseCount, parseNumber } from '../option-values.js';
import { checkDatabase, targetCommand } from '../target.js';
import type { BenchOptions } from './run.js';

export function benchCommand(): Command {
  return targetCommand('bench')
    .summary('measure searches of a database, or of generated records')
    .description(
      'Measure searches of a database, which is only read, or without `--database` import and searches of generated ' +
        'records in a temporary directory. Before the measurement, results are compared with brute force; exit code 1 ' +
        'when they differ.',
    )
    .option('--database <id>', 'database to search (default: generated records)', checkDatabase)
    .option('--records <n>', 'number of generated records (default: 5,000)', parseCount)
    .option('--concurrency <n>', 'searches at the same time (default: one per core)', parseCount)
    .option('--duration <seconds>', 'length of each measurement', parseSeconds, 5)
    .option('--seed <n>', 'determines the generated records and the queries', parseCount, 1)
    .option('--json', 'print the report as JSON')
    .examples(
      'cosift bench',
      'cosift bench --database facts --concurrency 16 --duration 30',
      'cosift bench --database facts --url http://127.0.0.1:8080 --json',
    )
    .action(async (options: BenchOptions) => {
      const { bench } = await import('./run.js');
      await bench(options);
    });
}

function parseSeconds(text: string): number {
  const seconds = parseNumber(text);
  if (seconds <= 0) throw new InvalidArgumentError('not above 0');
  return seconds;
}
