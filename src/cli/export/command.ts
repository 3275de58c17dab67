import { type Command, Option } from 'commander';
import { whereOption } from '../filter-options.js';
import { checkDatabase, modelFreeCommand } from '../target.js';
import type { ExportOptions } from './export-records.js';
import { FORMATS } from './format.js';

export function exportCommand(): Command {
  return modelFreeCommand('export')
    .summary('write the records of a database to a file or a pipe')
    .description(
      'Write all records of one moment, in the order of their ids. NDJSON has everything that import needs to make an ' +
        'equal database. CSV and Parquet have ids, keys and data, but no times: an import sets them. A file is replaced ' +
        'only when the new one is complete.',
    )
    .requiredOption('--database <id>', 'database to export', checkDatabase)
    .addOption(
      new Option(
        '--format <name>',
        'format of the output (default: by the name of the file, otherwise ndjson)',
      ).choices(FORMATS),
    )
    .option('--output <file>', 'file to write, compressed if it ends in .gz (default: standard output)')
    .addOption(whereOption('filter that every record satisfies'))
    .option('--vectors', 'write the vectors too, so that an import embeds nothing (NDJSON and Parquet)')
    .examples(
      'cosift export --database facts --output facts.ndjson.gz --vectors',
      'cosift export --database facts --output facts.csv',
      `cosift export --database facts --format csv --where "year < 1900"`,
      'cosift export --database facts --output facts.parquet --url http://127.0.0.1:8080',
    )
    .action(async (options: ExportOptions) => {
      const { exportRecords } = await import('./export-records.js');
      await exportRecords(options);
    });
}
