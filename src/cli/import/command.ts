import { type Command, Option } from 'commander';
import { COLUMN_TYPES } from '../../readers/column-types.js';
import { FORMATS } from '../../readers/option-text.js';
import { withEmbedOptions } from '../embed-options.js';
import { withLexicalOptions } from '../lexical-options.js';
import { addText, parseColumns, parseCount } from '../option-values.js';
import { checkDatabase, targetCommand } from '../target.js';
import {
  parseEncoding,
  parseMaxDeletes,
  parseQuote,
  parseRenames,
  parseSeparator,
  parseTypes,
} from './options.js';
import type { ImportOptions } from './store-records.js';

export function importCommand(): Command {
  return withEmbedOptions(
    withLexicalOptions(targetCommand('import'), 'create the database with an index of its words'),
  )
    .summary('store the records of a CSV, JSON or Parquet file')
    .description(
      'Store the records of a file: NDJSON, JSON, CSV, TSV or Parquet, plain or compressed by gzip or zstd. Importing ' +
        'the same file again is idempotent: a record is identified by its id, uuid or key, otherwise by its values, so ' +
        'that a changed row without an identity is a new record. A row that cannot be stored is reported with its ' +
        'line, and the exit code is 1.',
    )
    .argument('<file>', 'file to import, whose format is detected from its content; or - for a pipe')
    .requiredOption('--database <id>', 'database to store in, created if missing', checkDatabase)
    .option('--dimensions <n>', 'for a database of your own vectors: numbers per vector', parseCount)
    .option(
      '--id-column <name>',
      'column that identifies the records: by its values integer ids, UUIDs or keys (default: id or uuid)',
    )
    .option(
      '--types <column=type>',
      `${COLUMN_TYPES.join(', ')}, comma-separated; may be repeated (default: as in the file; for CSV number for a ` +
        'column of numbers such as 12, -0.5 or 749.10, boolean for a column of true and false, otherwise text)',
      parseTypes,
    )
    .option(
      '--flatten',
      'store nested objects as columns such as address.city; a new database gets this setting',
    )
    .addOption(
      new Option(
        '--columns <names>',
        'columns to read, comma-separated, or one for each use of the option (default: all)',
      )
        .argParser(parseColumns)
        .conflicts('skipColumns'),
    )
    .option(
      '--skip-columns <names>',
      'columns to leave out, comma-separated, or one for each use of the option',
      parseColumns,
    )
    .option(
      '--rename <old=new>',
      'new names of columns, comma-separated; may be repeated. The other options name the new ones',
      parseRenames,
    )
    .option(
      '--vector-column <name>',
      'column with the vectors: lists, or their text such as [0.5,1] in CSV (default: a list vector of JSON or Parquet)',
    )
    .addOption(new Option('--format <name>', 'format of the file (default: detected)').choices(FORMATS))
    .option(
      '--separator <character>',
      'CSV: character between fields, or "tab" (default: detected)',
      parseSeparator,
    )
    .option('--quote <character>', 'CSV: character around fields, or "none" (default: detected)', parseQuote)
    .option('--skip-lines <n>', 'CSV: lines above the header, such as a title (default: 0)', parseCount)
    .option(
      '--null <text>',
      'CSV: text that stands for no value, such as NA; may be repeated (default: an empty field)',
      addText,
    )
    .option(
      '--encoding <name>',
      'such as windows-1252, utf-16le or shift_jis (default: detected)',
      parseEncoding,
    )
    .option(
      '--bad-rows <file>',
      'write the rows that cannot be stored to a file, and the reasons to <file>.reasons',
    )
    .option(
      '--delete-missing',
      'then delete the records of the database that the file lacks; nothing if a row cannot be stored, or too much is missing',
    )
    .option(
      '--max-deletes <n>',
      'with --delete-missing: how many records may be deleted (default: a tenth, or 10 if that is more)',
      parseMaxDeletes,
    )
    .option('--dry-run', 'check all rows, print types, identity and the first records, and write nothing')
    .examples(
      'cosift import facts.csv --database facts --embed name,description',
      'cosift import products.csv.gz --database products --id-column sku --types zip=text --dry-run',
      'cosift import orders.parquet --database orders --bad-rows bad.ndjson',
      'zcat facts.ndjson.gz | cosift import - --database facts',
      'cosift import products.csv --database products --id-column sku --delete-missing',
    )
    .action(async (file: string, options: ImportOptions) => {
      const { importFile } = await import('./import-file.js');
      await importFile(file, options);
    });
}
