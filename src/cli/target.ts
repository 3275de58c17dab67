import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Databases } from '../api/index.js';
import type { Client, ClientOptions } from '../client/index.js';
import { isLoopback } from '../config/address-policy.js';
import { modelSources } from '../config/parsers.js';
import type { DatabaseService } from '../databases/index.js';
import { CosiftError, isCode } from '../errors.js';
import { DATABASE_ID } from '../schema/ids.js';
import {
  API_KEY,
  isApiKey,
  isServiceUrl,
  isStoreUrl,
  SERVICE_URL,
  STORE_URL,
} from '../schema/service-address.js';
import { CliCommand } from './cli-command.js';

// The modules of the commands load the library, the client and the server by `import()` when a command runs: loading all
// of them takes most of the time of a short command.

/** What a command works on: a data directory of this machine, a PostgreSQL database, or a running server. */
export interface TargetOptions {
  data: string;
  store?: string;
  url?: string;
  key?: string;
  models?: Record<string, string>;
}

/** Makes a command with the options of {@link TargetOptions}. */
export function targetCommand(name: string): CliCommand {
  return withModels(modelFreeCommand(name));
}

/** Adds the option for models in addition to the built-in one. */
export function withModels<C extends Command>(command: C): C {
  return command.addOption(
    new Option(
      '--models <name=source>',
      'model in addition to the built-in one, for a directory: NAME=DIRECTORY, or NAME=URL of an endpoint; may be repeated',
    )
      .env('COSIFT_MODELS')
      .argParser(addModels),
  );
}

/** Makes a command like {@link targetCommand} for work that needs no model. */
export function modelFreeCommand(name: string): CliCommand {
  return withServer(directoryCommand(name), '--key');
}

/** Adds the options for a running server. `keyOption` is the one for the API key. */
export function withServer<C extends Command>(command: C, keyOption: KeyOption): C {
  return command
    .addOption(
      new Option('--url <url>', 'running server to work on, instead of a directory')
        .env('COSIFT_URL')
        .argParser(checkUrl),
    )
    .addOption(
      new Option(
        `${keyOption} <key>`,
        'API key for the server (default: <data>/admin.key, for a server on this machine)',
      ).env('COSIFT_KEY'),
    )
    .hook('preAction', chooseTarget);
}

/** The option for the API key: another one where `--key` means something else. */
export type KeyOption = '--key' | '--api-key';

/** Makes a command for work that only the process with the databases does. */
export function directoryCommand(name: string): CliCommand {
  return new CliCommand(name)
    .addOption(
      new Option('--data <dir>', 'data directory to work on')
        .env('COSIFT_DATA')
        .default('./data')
        .argParser(checkDirectory),
    )
    .addOption(
      new Option('--store <url>', 'PostgreSQL database to work on, instead of a directory')
        .env('COSIFT_STORE')
        .argParser(checkStore),
    );
}

/** Lets an option of the command line win over an environment variable that names another target. */
function chooseTarget(command: Command): void {
  const sources = ['store', 'url'].map((name) => ({ name, source: command.getOptionValueSource(name) }));
  const given = sources.filter(({ source }) => source === 'cli' || source === 'env');
  if (given.length < 2) return;
  const fromEnvironment = given.filter(({ source }) => source === 'env');
  if (fromEnvironment.length !== 1) {
    throw new CosiftError('invalid_request', 'give either --store or --url: they name different targets');
  }
  for (const { name } of fromEnvironment) command.setOptionValue(name, undefined);
}

/** Throws for a target that is a PostgreSQL database, because the command is about the files of a data directory. */
export function refuseStore({ store }: { store?: string }, advice: string): void {
  if (store === undefined) return;
  throw new CosiftError(
    'invalid_request',
    `the command works on a data directory or a server, not with --store: ${advice}`,
  );
}

/** Opens the databases that a command works on. Close them. With `create`, a missing data directory is created. */
export async function openTarget(options: TargetOptions, { create = false } = {}): Promise<Databases> {
  if (options.url !== undefined) return openServer(options.url, options);
  if (!create) await checkDataDirectory(options);
  const { Cosift } = await import('../library/cosift.js');
  return new Cosift(await openDirectory(options));
}

/** Throws unless there is a data directory or another store: a command that only reads does not create a directory. */
export async function checkDataDirectory({
  data,
  store,
}: Pick<TargetOptions, 'data' | 'store'>): Promise<void> {
  if (store !== undefined) return;
  const entries = entriesOf(data);
  if (entries?.includes('databases')) return;
  const { RESTORE_DIRECTORY } = await import('../store/archive/index.js');
  if (entries?.includes(RESTORE_DIRECTORY)) {
    throw new CosiftError('not_ready', `a restore into ${data} was not finished: run it again`);
  }
  const problem =
    entries === undefined ? `there is no data directory ${data}` : `${data} is no data directory of cosift`;
  throw new CosiftError(
    'invalid_request',
    `${problem}: give the right one with --data, or a running server with --url; ` +
      '`cosift import FILE --database NAME` and `cosift serve --demo` make one',
  );
}

/** The names in a directory; undefined when it is missing. */
function entriesOf(directory: string): string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR') return [];
    throw error;
  }
}

export async function openServer(url: string, options: TargetOptions): Promise<Client> {
  const { Client } = await import('../client/client.js');
  return new Client(connection(url, options));
}

/** How to reach a server. A failed request is not repeated, so that the user sees the failure at once. */
export function connection(
  url: string,
  options: Pick<TargetOptions, 'data' | 'url' | 'key'>,
  keyOption: KeyOption = '--key',
): ClientOptions {
  return { url, key: apiKey(options, keyOption), retries: 0 };
}

/** Opens a data directory, and creates it if it is missing; or a PostgreSQL database. */
export async function openDirectory({
  data,
  store,
  models,
}: Pick<TargetOptions, 'data' | 'store' | 'models'>): Promise<DatabaseService> {
  const { checkModelSources, openDatabases } = await import('../databases/index.js');
  checkModelSources(models);
  try {
    // An interrupted re-embedding continues only when the user asks for that.
    return await openDatabases({
      directory: data,
      store: store === undefined ? undefined : { url: store },
      models,
      resume: false,
    });
  } catch (error) {
    if (!isCode(error, 'data_locked')) throw error;
    throw new CosiftError('data_locked', `${error.detail}; to work on its running server, give --url`, {
      cause: error,
    });
  }
}

/** @throws {CosiftError} `unauthorized` when there is no key that can be sent. */
function apiKey(options: Pick<TargetOptions, 'data' | 'url' | 'key'>, keyOption: KeyOption): string {
  const key = findKey(options, keyOption);
  // The message does not contain the key, because messages are kept in logs.
  if (!isApiKey(key)) throw new CosiftError('unauthorized', `the API key is not a ${API_KEY}`);
  return key;
}

/**
 * Returns the key for a server: the given one, else the admin key of the data directory. The admin key is sent to this
 * machine only: another machine may belong to somebody else, and would receive the key even if the address was mistyped.
 */
function findKey(
  { key, data, url }: Pick<TargetOptions, 'data' | 'url' | 'key'>,
  keyOption: KeyOption,
): string {
  if (key !== undefined) return key;
  const file = path.join(data, 'admin.key');
  const host = url === undefined ? undefined : new URL(url).hostname;
  if (host !== undefined && !isLoopback(host)) {
    throw new CosiftError(
      'unauthorized',
      `no API key for ${host}: give ${keyOption}, or set COSIFT_KEY (${file} is only sent to this machine, such as 127.0.0.1)`,
    );
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new CosiftError(
      'unauthorized',
      `no API key: give ${keyOption}, or set COSIFT_KEY (${file} cannot be read)`,
    );
  }
}

export function addModels(text: string, before: Record<string, string> = {}): Record<string, string> {
  try {
    return { ...before, ...modelSources(text) };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function checkDirectory(text: string): string {
  if (text === '') throw new InvalidArgumentError('must not be empty');
  return text;
}

function checkStore(text: string): string {
  // The message of an `InvalidArgumentError` would show the URL, which may have a password.
  if (!isStoreUrl(text)) throw new CosiftError('invalid_request', `--store: must be a ${STORE_URL}`);
  return text;
}

function checkUrl(text: string): string {
  if (!isServiceUrl(text)) throw new InvalidArgumentError(`must be a ${SERVICE_URL}`);
  return text.replace(/\/+$/, '');
}

/** Checks a database id before anything is opened or sent. */
export function checkDatabase(text: string): string {
  if (!DATABASE_ID.test(text)) {
    throw new InvalidArgumentError('a database id has 1 to 64 of a-z 0-9 _ -');
  }
  return text;
}
