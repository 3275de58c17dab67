import { Command, InvalidArgumentError, Option } from 'commander';
import { CosiftError, isCode } from '../errors.js';
import { columnNames } from '../readers/option-text.js';
import type { DatabaseChanges, DatabaseDescription, DatabaseSettings } from '../schema/index.js';
import { count } from '../schema/plain.js';
import { confirm } from './confirm.js';
import { type EmbedOptions, embedIn, withEmbedOptions } from './embed-options.js';
import { shownJson } from './failure.js';
import { type LexicalOptions, lexicalIn, withLexicalOptions } from './lexical-options.js';
import { parseCount, parseNumber } from './option-values.js';
import { outputWidth, writeLines } from './output.js';
import { bytes, plural } from './progress-bar.js';
import { withDatabase } from './records/near-names.js';
import { withOptionNames } from './records/option-names.js';
import { embedAgain } from './reembed.js';
import { checkDatabase, openTarget, type TargetOptions, targetCommand } from './target.js';

interface ShowOptions extends TargetOptions {
  json?: true;
}

interface CreateOptions extends ShowOptions, EmbedOptions, LexicalOptions {
  flatten?: true;
  model?: string;
  dimensions?: number;
  default?: Defaults;
}

interface ChangeOptions extends ShowOptions, EmbedOptions, LexicalOptions {
  embedAll?: true;
  flatten?: boolean;
  model?: string;
  default?: Defaults;
}

type Defaults = NonNullable<DatabaseChanges['defaults']>;

interface DropOptions extends ShowOptions {
  yes?: true;
}

export function databasesCommand(): Command {
  return new Command('databases')
    .description('list, show, create, change and drop databases')
    .addCommand(
      targetCommand('list')
        .description('list the databases')
        .option('--json', 'print the descriptions of the databases as JSON')
        .examples('cosift databases list', 'cosift databases list --url http://127.0.0.1:8080')
        .action(list),
    )
    .addCommand(
      targetCommand('show')
        .description('show settings, sizes, times and columns of a database')
        .argument('<database>', 'the database', checkDatabase)
        .option('--json', 'print the description of the database as JSON')
        .examples('cosift databases show facts')
        .action(show),
    )
    .addCommand(
      withEmbedOptions(
        withLexicalOptions(targetCommand('create'), 'index the words, for searches with --lexical'),
      )
        .description('create a database; one that exists with the same settings stays as it is')
        .argument('<database>', 'id of the new database', checkDatabase)
        .option(
          '--model <name>',
          'the model: the built-in one, multilingual-e5-small if its package is installed, or one of --models (default: the built-in one)',
        )
        .option('--dimensions <n>', 'for a database of your own vectors: numbers per vector', parseCount)
        .option('--flatten', FLATTEN_HELP)
        .option('--default <name=value>', DEFAULT_HELP, parseDefaults)
        .option('--json', 'print the description of the database as JSON')
        .examples(
          'cosift databases create facts --embed name,description',
          'cosift databases create images --dimensions 512',
          'cosift databases create products --embed description --lexical-columns name=3,sku=2,description=1',
        )
        .action(create),
    )
    .addCommand(
      withEmbedOptions(
        withLexicalOptions(
          targetCommand('change'),
          'index the words of the embedded columns, for searches with --lexical',
          { removes: true },
        ),
        { removes: true },
      )
        .description('change settings of a database')
        .argument('<database>', 'the database', checkDatabase)
        .addOption(new Option('--embed-all', 'search by meaning by every text').conflicts('embed'))
        .option(
          '--model <name>',
          'the model: the built-in one, multilingual-e5-small if its package is installed, or one of --models',
        )
        .option('--no-lexical', 'forget the index of the words')
        .option('--flatten', FLATTEN_HELP)
        .option('--no-flatten', 'refuse nested objects')
        .option('--default <name=value>', `${DEFAULT_HELP}; none removes a value`, parseDefaults)
        .option('--json', 'print the description of the database as JSON')
        .examples(
          'cosift databases change facts --lexical --default lexical=0.3,limit=20',
          'cosift databases change facts --default threshold=none',
          'cosift databases change products --lexical-columns name=3,sku=2,notes=none',
          'cosift databases change facts --embed name,description --passages per_record=1024',
          'cosift databases change facts --embed-all',
        )
        .action(change),
    )
    .addCommand(
      targetCommand('drop')
        .description('drop a database with all its records')
        .argument('<database>', 'the database', checkDatabase)
        .option('--yes', 'do not ask before the database is dropped')
        .examples('cosift databases drop facts --yes')
        .action(drop),
    );
}

const FLATTEN_HELP = 'store nested objects of records as columns such as address.city';

const DEFAULT_HELP =
  'threshold, lexical or limit of searches that name none, comma-separated; may be repeated';

function parseDefaults(text: string, before: Defaults = {}): Defaults {
  const given = text.split(',').map((part): [string, number | null] => {
    const [, name, value] = /^\s*(threshold|lexical|limit)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new InvalidArgumentError('not threshold, lexical or limit with a value, such as threshold=0.1');
    }
    return [name, value === 'none' ? null : parseNumber(value)];
  });
  return { ...before, ...Object.fromEntries(given) };
}

async function list(options: ShowOptions): Promise<void> {
  await using databases = await openTarget(options);
  const descriptions = await databases.databases();
  if (options.json) return await writeLines([shownJson(descriptions, 2)]);
  if (descriptions.length === 0) return await writeLines(['there is no database']);
  const rows = descriptions.map(({ id, records, model, dimensions, sizes, times }) => [
    id,
    count(records),
    model ?? 'own vectors',
    String(dimensions),
    bytes(sizes.memory_bytes),
    bytes(sizes.disk_bytes),
    times.last_write_at,
  ]);
  const { table } = await import('./table.js');
  const header = ['database', 'records', 'model', 'dimensions', 'memory', 'disk', 'last write'];
  await writeLines([table(header, rows, outputWidth())]);
}

async function show(id: string, options: ShowOptions): Promise<void> {
  await using databases = await openTarget(options);
  const description = await withDatabase(databases, id, () => databases.database(id).describe());
  await print(description, options);
}

async function print(description: DatabaseDescription, { json }: ShowOptions): Promise<void> {
  if (json) return await writeLines([shownJson(description, 2)]);
  const { table } = await import('./table.js');
  const { id, records, model, dimensions, embed, lexical, sizes, times, reembedding, columns } = description;
  const { passages, without_text, flatten, defaults } = description;
  const facts = [
    ['records', count(records)],
    ...(passages === undefined || model === null ? [] : [['passages', count(passages)]]),
    ...(without_text ? [['without text', `${count(without_text)}, which no search finds`]] : []),
    ['model', model ?? 'none: records and searches bring their own vectors'],
    ...(description.notice === undefined ? [] : [['notice', description.notice]]),
    ['dimensions', String(dimensions)],
    ...(model === null ? [] : [['embedded columns', embed.columns?.join(', ') ?? 'every text']]),
    ...(embed.passages === undefined ? [] : [['passages', shownMembers(embed.passages)]]),
    ['words', lexical ? `indexed of ${plural(description.lexical_records ?? 0, 'record')}` : 'not indexed'],
    ...(typeof lexical === 'boolean' ? [] : [['columns with words', shownWeights(lexical.columns)]]),
    ...(flatten ? [['nested objects', 'columns of their own']] : []),
    ...(defaults === undefined ? [] : [['defaults of searches', shownMembers(defaults)]]),
    ['memory', bytes(sizes.memory_bytes)],
    ['disk', bytes(sizes.disk_bytes)],
    ['created', times.created_at],
    ['last write', times.last_write_at],
    ...(reembedding === undefined
      ? []
      : [
          [
            're-embedding',
            `${reembedding.state}: ${plural(reembedding.done, 'record')} with vectors of ${reembedding.model}`,
          ],
        ]),
  ];
  const rows = columns.map(({ name, types, records: having }) => [name, types.join(', '), count(having)]);
  await writeLines([
    table(['database', id], facts, outputWidth()),
    ...(rows.length === 0 ? [] : ['', table(['column', 'types', 'records'], rows, outputWidth())]),
  ]);
}

function shownMembers(setting: object): string {
  return Object.entries(setting)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function shownWeights(columns: Record<string, number>): string {
  return Object.entries(columns)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, weight]) => `${name} ${weight}`)
    .join(', ');
}

async function create(id: string, options: CreateOptions): Promise<void> {
  const { embed, model, dimensions, flatten, default: defaults } = options;
  const lexical = lexicalIn<number>(options);
  const embedded = embedIn(embed && columnNames(embed), options);
  const settings = {
    ...(embedded && { embed: embedded }),
    ...(model !== undefined && { model }),
    ...(dimensions !== undefined && { dimensions }),
    ...(lexical && { lexical }),
    ...(flatten && { flatten }),
    ...(defaults !== undefined && { defaults }),
  } as DatabaseSettings;
  await using databases = await openTarget(options, { create: true });
  try {
    await databases.createDatabase(id, settings);
    await print(await databases.database(id).describe(), options);
  } catch (error) {
    if (!isCode(error, 'database_exists')) throw error;
    const advice = `\`cosift databases show ${id}\` shows its settings, \`cosift databases change ${id}\` changes them`;
    throw new CosiftError(error.code, `${error.detail}; ${advice}`, { cause: error });
  }
}

async function change(id: string, options: ChangeOptions): Promise<void> {
  const { embed, embedAll, model, flatten, default: defaults } = options;
  const lexical = lexicalIn(options);
  const embedded = embedIn(embed && columnNames(embed), options);
  const changes: DatabaseChanges = {
    ...(embedded && { embed: embedded }),
    ...(embedAll && { embed: { ...embedded, columns: null } }),
    ...(model !== undefined && { model }),
    ...(lexical !== undefined && { lexical }),
    ...(flatten !== undefined && { flatten }),
    ...(defaults !== undefined && { defaults }),
  };
  if (Object.keys(changes).length === 0) throw new Error('give a setting to change');
  await using databases = await openTarget(options);
  const database = databases.database(id);
  const changed = await withDatabase(databases, id, () => database.configure(changes)).catch((error) => {
    throw withOptionNames(error);
  });
  if (changed.reembedding === undefined) return await print(changed, options);
  await embedAgain(database, changed.reembedding.model, options);
  await print(await database.describe(), options);
}

async function drop(id: string, options: DropOptions): Promise<void> {
  await using databases = await openTarget(options);
  await withDatabase(databases, id, async () => {
    const database = databases.database(id);
    const { records } = await database.describe();
    const what = `"${id}" with ${plural(records, 'record')}`;
    if (!options.yes && !(await confirm(`drop ${what}`, id))) {
      console.log('nothing was dropped');
      process.exitCode = 1;
      return;
    }
    await database.drop();
    console.log(`dropped ${what}`);
  });
}
