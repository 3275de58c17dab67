import { Command } from 'commander';
import type { Filter, IssuedKey, KeyDescription } from '../schema/index.js';
import { ACTIONS } from '../schema/keys.js';
import { didYouMean } from '../schema/suggest.js';
import { printable, shownJson, warn } from './failure.js';
import { whereOption } from './filter-options.js';
import { type Keys, openKeys } from './keys.js';
import { writeLines } from './output.js';
import { withOptionNames } from './records/option-names.js';
import { modelFreeCommand, type TargetOptions } from './target.js';

interface CreateOptions extends TargetOptions {
  name: string;
  actions: string;
  databases: string;
  expires?: string;
  where?: Filter;
}

interface ListOptions extends TargetOptions {
  json?: true;
}

interface RevokeOptions extends TargetOptions {
  descendants?: true;
}

export function keyCommand(): Command {
  return new Command('key')
    .description('issue, list and revoke API keys')
    .addCommand(
      modelFreeCommand('create')
        .description('issue a key and print it; it cannot be shown again')
        .requiredOption('--name <name>', 'what the key is for')
        .option('--actions <list>', `comma-separated, of ${ACTIONS.join(', ')}`, 'search')
        .option('--databases <list>', 'database ids, comma-separated, or *', '*')
        .option('--expires <time>', 'ISO 8601 time after which the key ends')
        .addOption(whereOption('filter forced on all that the key sees'))
        .examples(
          'cosift key create --name website --databases facts --expires 2030-01-01T00:00:00Z',
          `cosift key create --name ada --databases notes --where "tenant = 'ada'"`,
          'cosift key create --name sync --actions records.read,records.write --databases facts,places',
        )
        .action(create),
    )
    .addCommand(
      modelFreeCommand('list')
        .description('list keys, without their secrets')
        .option('--json', 'print the descriptions of the keys as JSON')
        .examples('cosift key list', 'cosift key list --url http://127.0.0.1:8080')
        .action(list),
    )
    .addCommand(
      modelFreeCommand('revoke')
        .description('revoke a key at once')
        .argument('<key-id>', 'as `list` shows it')
        .option('--descendants', 'also revoke the keys that it issued, directly or through others')
        .examples('cosift key revoke 5wq0xs9nr2ad --descendants')
        .action(revoke),
    );
}

async function create(options: CreateOptions): Promise<void> {
  await using keys = await openKeys(options);
  const { name, actions, databases, expires, where } = options;
  const { checkKeyRequest } = await import('../schema/index.js');
  const request = {
    name,
    actions: actions.split(','),
    databases: databases === '*' ? '*' : databases.split(','),
    ...(expires !== undefined && { expires_at: expires }),
    ...(where !== undefined && { filter: 'rules' in where ? where : { rules: [where] } }),
  };
  let issued: IssuedKey;
  try {
    issued = await keys.issue(checkKeyRequest(request));
  } catch (error) {
    throw withOptionNames(error);
  }
  if (databases !== '*') await warnOfMissingDatabases(keys, databases.split(','));
  // Standard output holds only the key, for $(cosift key create …).
  process.stderr.write(`key ${printable(issued.key_id)}, shown this once:\n`);
  console.log(printable(issued.key));
}

/** Warns of databases that do not exist. They may be created later, but are probably misspelt. */
async function warnOfMissingDatabases(keys: Keys, ids: readonly string[]): Promise<void> {
  const known = await keys.databases();
  if (known === undefined) return;
  for (const id of ids) {
    if (!known.includes(id)) warn(`there is no database "${id}" yet${didYouMean(id, known)}`);
  }
}

async function list(options: ListOptions): Promise<void> {
  await using keys = await openKeys(options);
  const descriptions = await keys.list();
  if (options.json) return await writeLines([shownJson(descriptions, 2)]);
  const rows = descriptions.map((key: KeyDescription) => [
    key.key_id,
    key.name,
    key.actions.join(','),
    [key.databases].flat().join(','),
    String(key.expires_at ?? 'never'),
    key.issued_by,
    key.filter === undefined ? '' : JSON.stringify(key.filter),
  ]);
  if (rows.length === 0) return await writeLines(['no key was issued; the admin key is not listed']);
  const { table } = await import('./table.js');
  const header = ['key id', 'name', 'actions', 'databases', 'expires', 'issued by', 'filter'];
  await writeLines([table(header, rows, Number.POSITIVE_INFINITY)]);
}

async function revoke(keyId: string, options: RevokeOptions): Promise<void> {
  await using keys = await openKeys(options);
  const descendants = options.descendants === true;
  await keys.revoke(keyId, { descendants });
  console.log(`revoked ${keyId}${descendants ? ' and the keys that it issued' : ''}`);
}
