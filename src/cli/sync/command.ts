import { Command, InvalidArgumentError, Option } from 'commander';
import { readConfigFile } from '../../config/config-file.js';
import { modelSources, storeUrl, text } from '../../config/parsers.js';
import { CosiftError, isCode } from '../../errors.js';
import { COLUMN_TYPES } from '../../readers/column-types.js';
import { shellWord } from '../../readers/option-text.js';
import { DEFAULT_EVERY, DURATION } from '../../sync/duration.js';
import type { CliCommand } from '../cli-command.js';
import { withEmbedOptions } from '../embed-options.js';
import { parseMaxDeletes, parseTypes } from '../import/options.js';
import { parseColumns } from '../option-values.js';
import { checkDatabase, directoryCommand, withModels, withServer } from '../target.js';
import type { SyncOptions } from './definition.js';

type Action = (name: string | undefined, options: SyncOptions, command: Command) => Promise<void>;

export function syncCommand(): Command {
  return new Command('sync')
    .description('keep databases in step with tables of PostgreSQL, MySQL, MariaDB and SQLite')
    .addCommand(
      sourceCommand('check', 'show what would be read: rights, key, columns, hazards and the first records')
        .examples('cosift sync check --from env:SHOP_URL --table products --columns name,price')
        .action(action('check')),
    )
    .addCommand(
      withEmbedOptions(
        withPasses(
          sourceCommand(
            'run',
            'follow a source until the command is stopped; creates the database if it is missing',
          ),
        ),
      )
        .option(
          '--every <duration>',
          `pause between two passes, such as 500ms, 10s or 5m (default: ${DEFAULT_EVERY})`,
          parseDuration,
        )
        .option(
          '--once',
          'make one pass and end, such as for cron; exit code 1 if it fails or withholds deletions',
        )
        .option('--json', 'print each change of the state as a line of JSON')
        .examples(
          'cosift sync run --from env:SHOP_URL --table products --columns name,price --database products --embed name',
          'cosift sync run products --once',
          'cosift sync run products --url https://search.example.com --api-key $COSIFT_KEY',
        )
        .action(action('run')),
    )
    .addCommand(
      named(directoryCommand('status'), 'source to show (default: all)')
        .description('show how far the sources are')
        .option('--json', 'print a line of JSON for each source')
        .examples('cosift sync status', 'cosift sync status --url http://127.0.0.1:8080')
        .action(action('status')),
    )
    .addCommand(
      withPasses(sourceCommand('reconcile', 'compare all rows now, and mend what differs'))
        .examples(
          'cosift sync reconcile products',
          'cosift sync reconcile products --url http://127.0.0.1:8080',
        )
        .action(action('reconcile')),
    )
    .addCommand(
      withPasses(
        sourceCommand('confirm', 'delete the records that were withheld, and no more than were shown'),
      )
        .examples('cosift sync confirm products', 'cosift sync confirm products --url http://127.0.0.1:8080')
        .action(action('confirm')),
    )
    .addCommand(
      named(directoryCommand('remove'), 'source to forget')
        .description('forget a source; its records stay')
        .option('--delete-records', 'delete its records, too')
        .examples('cosift sync remove products --delete-records')
        .action(action('remove')),
    );
}

function action(name: 'check' | 'run' | 'status' | 'reconcile' | 'confirm' | 'remove'): Action {
  return async (source, options, command) => {
    const actions = await import('./actions.js');
    try {
      await actions[name](source, {
        ...options,
        ...configuredPlace(options, command),
        given: givenFlags(command),
      });
    } catch (error) {
      // The advice of other commands is an option that names columns here.
      if (!isCode(error, 'unauthorized') || error.fields.request_id === undefined) throw error;
      throw new CosiftError(
        'unauthorized',
        `${error.detail}; give the right key with --api-key or COSIFT_KEY`,
        { cause: error },
      );
    }
  };
}

/** Options of `run` that `confirm` takes, too. */
const CONFIRM_OPTIONS = [
  'config',
  'from',
  'table',
  'query',
  'columns',
  'key',
  'where',
  'stream',
  'types',
  'database',
  'data',
  'store',
  'url',
  'apiKey',
];

/** A URL that may have a password. */
const PASSWORD = /:\/\/.*:.*@|password/s;

/** The options of the command line with which `confirm` finds the same source, for a shell, without what may be secret. */
function givenFlags(command: Command): string {
  const words = CONFIRM_OPTIONS.flatMap((name) => {
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const flag = command.options.find((option) => option.attributeName() === name)?.long as string;
    const value: unknown = command.getOptionValue(name);
    if (Array.isArray(value)) return value.flatMap((text) => [flag, shellWord(text)]);
    if (typeof value !== 'string') {
      const types = Object.entries(value as object).map((pair) => pair.join('='));
      return [flag, shellWord(types.join(','))];
    }
    const isSecret = name === 'apiKey' || PASSWORD.test(value);
    return [flag, isSecret ? '…' : shellWord(value)];
  });
  return words.map((word) => ` ${word}`).join('');
}

/** The directory or store, and the models, of the config file, where neither a flag nor a variable names another one. */
function configuredPlace({ config, models }: SyncOptions, command: Command): Partial<SyncOptions> {
  const { values } = readConfigFile(config ?? process.env.COSIFT_CONFIG);
  const isGiven = ['data', 'store'].some((name) =>
    ['cli', 'env'].includes(command.getOptionValueSource(name) ?? ''),
  );
  const [data, store] = [values.get('data'), values.get('store')];
  return {
    ...(!isGiven && data !== undefined && { data: text(data) }),
    ...(!isGiven && store !== undefined && { store: storeUrl(store) }),
    ...(models === undefined && values.has('models') && { models: modelSources(values.get('models')) }),
  };
}

/** A command that reads a source. */
function sourceCommand(name: string, description: string): CliCommand {
  return named(
    withModels(directoryCommand(name)),
    'source of the config file, or the name of the one that the options describe',
  )
    .description(description)
    .option(
      '--from <place>',
      'postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, sqlite:PATH, or env:NAME with one of these in a variable',
    )
    .option('--table <name>', 'table or view to read')
    .addOption(new Option('--query <sql>', 'query to read, with --key').conflicts('table'))
    .option('--columns <names>', 'columns that the records have, comma-separated', parseColumns)
    .option(
      '--key <names>',
      'columns that identify a row, comma-separated (default: the primary key)',
      parseColumns,
    )
    .option('--where <sql>', 'condition in SQL on the columns of a row; other rows count as absent')
    .option(
      '--stream <name>',
      'replication slot and publication of PostgreSQL to make and follow, such as cosift_products (default: none)',
    )
    .option(
      '--types <column=type>',
      `${COLUMN_TYPES.join(', ')}: for columns that are not stored as their own type says, comma-separated; may be repeated`,
      parseTypes,
    );
}

/** Adds the option of the commands that make passes. */
function withPasses(command: CliCommand): CliCommand {
  return command.option(
    '--max-deletes <n>',
    'records that a pass may delete (default: a tenth, or 10 if that is more)',
    parseMaxDeletes,
  );
}

/** Adds what each command takes. */
function named(command: CliCommand, description: string): CliCommand {
  return withServer(command, '--api-key')
    .argument('[name]', description, checkDatabase)
    .option('--database <id>', 'database that is kept in step (default for the name, too)', checkDatabase)
    .option(
      '--config <file>',
      'config file with the member sync (env: COSIFT_CONFIG; default: cosift.json if it exists)',
    );
}

function parseDuration(text: string): string {
  if (DURATION.test(text)) return text;
  throw new InvalidArgumentError('not a duration such as 500ms, 10s, 5m or 1h');
}
