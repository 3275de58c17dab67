import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LIMITS, type Limits } from './schema/limits.js';
import { MAX_EMBED_WORKERS, MAX_THREADS } from './schema/options.js';
import { suggest } from './schema/suggest.js';
import { AddressPolicy } from './server/webhooks/address-policy.js';

/** Everything that `cosift serve` can be told. */
export interface Config {
  host: string;
  port: number;
  /** The data directory, absolute. */
  data: string;
  /** undefined: the one kept in the data directory. */
  adminKey: string | undefined;
  logLevel: string;
  /** Requests a minute of one key; 0: any number. */
  rateLimit: number;
  /** Searches under way at once. */
  maxSearches: number;
  answerTimeoutSeconds: number;
  /** Connections that are open at once. */
  maxConnections: number;
  /** Engine threads; undefined: the engine's own choice. */
  threads: number | undefined;
  /** Embedding processes; undefined: the embedder's own choice. */
  embedWorkers: number | undefined;
  limits: Limits;
  /** Models beside the built-in one: their directories, absolute, by name. */
  models: Readonly<Record<string, string>>;
  /** Addresses, CIDR ranges and host names that webhooks may reach although they are not public. */
  webhookAllow: readonly string[];
}

export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface ResolvedConfig {
  config: Config;
  /** Each setting, its value as text with secrets hidden, and where it came from. */
  settings: { name: string; value: string; origin: Origin; source: string }[];
  /** What was passed over, a line each. */
  warnings: string[];
}

/** A setting that cannot be used; the message is one line for the person at the shell. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Setting {
  /** In the file; `a.b` is member `b` of `a`. */
  name: string;
  /** As `--long-name`; none: a secret does not belong on a command line. */
  flag?: string;
  env: string;
  help: string;
  default?: string | number;
  parse: (value: unknown) => unknown;
  secret?: true;
  /** The flag may come several times. */
  repeat?: true;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

const text = (value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw new Error('must be a text that is not empty');
  return value;
};

const whole =
  (least: number, most: number) =>
  (value: unknown): number => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most) {
      return number;
    }
    throw new Error(`must be a whole number from ${least} to ${most}, not ${JSON.stringify(value)}`);
  };

const oneOf =
  (values: readonly string[]) =>
  (value: unknown): string => {
    if (values.includes(value as string)) return value as string;
    throw new Error(`must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
  };

/** `NAME=DIRECTORY`, one or several separated by commas or given as a list; or an object of them. */
export const modelDirectories = (value: unknown): Record<string, string> => {
  const pairs = isObject(value)
    ? Object.entries(value)
    : [value]
        .flat()
        .flatMap((list) => (typeof list === 'string' ? list.split(',') : [list]))
        .map((pair) =>
          typeof pair === 'string' ? /^([^=]+)=(.+)$/s.exec(pair.trim())?.slice(1) : undefined,
        );
  const named = new Map<string, string>();
  for (const pair of pairs) {
    const [name, directory] = pair ?? [];
    if (typeof name !== 'string' || typeof directory !== 'string' || directory === '') {
      throw new Error('must be NAME=DIRECTORY');
    }
    if (named.has(name)) throw new Error(`names ${name} twice`);
    named.set(name, path.resolve(directory));
  }
  return Object.fromEntries(named);
};

/** Separated by commas, or as a list. */
const addressList = (value: unknown): string[] => {
  const entries = [value].flat().flatMap((list) => (typeof list === 'string' ? list.split(',') : [list]));
  const names = entries.map((entry) => {
    if (typeof entry !== 'string') throw new Error('must be texts');
    return entry.trim();
  });
  // Only to check them.
  new AddressPolicy(names);
  return names;
};

const headerText = (value: unknown): string => {
  if (!/^[\x21-\x7e]+$/.test(text(value))) throw new Error('must be printable ASCII without spaces');
  return value as string;
};

/** Every setting of the server, in the order in which it is shown. */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'host',
    flag: '--host',
    env: 'COSIFT_HOST',
    help: 'address to listen on',
    default: '127.0.0.1',
    parse: text,
  },
  {
    name: 'port',
    flag: '--port',
    env: 'COSIFT_PORT',
    help: 'port; 0 takes any free one',
    default: 8080,
    parse: whole(0, 65_535),
  },
  {
    name: 'data',
    flag: '--data',
    env: 'COSIFT_DATA',
    help: 'data directory',
    default: './data',
    parse: text,
  },
  {
    name: 'admin_key',
    env: 'COSIFT_ADMIN_KEY',
    help: 'admin key instead of the one kept in the data directory',
    parse: headerText,
    secret: true,
  },
  {
    name: 'log_level',
    flag: '--log-level',
    env: 'COSIFT_LOG_LEVEL',
    help: LOG_LEVELS.join(', '),
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  },
  {
    name: 'rate_limit',
    flag: '--rate-limit',
    env: 'COSIFT_RATE_LIMIT',
    help: 'requests a minute of one key; 0 for any number',
    default: 600_000,
    parse: whole(0, 1_000_000_000),
  },
  {
    name: 'max_searches',
    flag: '--max-searches',
    env: 'COSIFT_MAX_SEARCHES',
    help: 'searches under way at once; more are answered with 503',
    default: 256,
    parse: whole(1, 100_000),
  },
  {
    name: 'answer_timeout_seconds',
    flag: '--answer-timeout-seconds',
    env: 'COSIFT_ANSWER_TIMEOUT_SECONDS',
    help: 'longest time for a search',
    default: 30,
    parse: whole(1, 3600),
  },
  {
    name: 'max_connections',
    flag: '--max-connections',
    env: 'COSIFT_MAX_CONNECTIONS',
    help: 'connections open at once; more are closed at once',
    default: 10_000,
    parse: whole(1, 1_000_000),
  },
  {
    name: 'threads',
    flag: '--threads',
    env: 'COSIFT_THREADS',
    help: 'engine threads (default: by the machine)',
    parse: whole(1, MAX_THREADS),
  },
  {
    name: 'embed_workers',
    flag: '--embed-workers',
    env: 'COSIFT_EMBED_WORKERS',
    help: 'texts embedded at once (default: by the machine)',
    parse: whole(1, MAX_EMBED_WORKERS),
  },
  {
    name: 'models',
    flag: '--models',
    env: 'COSIFT_MODELS',
    help: 'models beside the built-in one, NAME=DIRECTORY; may be repeated',
    parse: modelDirectories,
    repeat: true,
  },
  {
    name: 'webhook_allow',
    flag: '--webhook-allow',
    env: 'COSIFT_WEBHOOK_ALLOW',
    help: 'addresses, CIDR ranges or host names, not public, that webhooks may reach; may be repeated',
    parse: addressList,
    repeat: true,
  },
  ...Object.entries(LIMITS).map(([name, value]) => ({
    name: `limits.${name}`,
    env: `COSIFT_LIMIT_${name.toUpperCase()}`,
    flag: `--limit-${name.replaceAll('_', '-')}`,
    help: `limit (see docs/limits.md)`,
    default: value,
    parse: whole(1, 1_073_741_824),
  })),
];

// Read by other commands than `serve`, or by the file setting itself.
const OTHER_ENV = ['COSIFT_CONFIG', 'COSIFT_URL', 'COSIFT_KEY', 'COSIFT_KERNEL'];
const DEFAULT_FILE = 'cosift.json';

/**
 * A flag, else an environment variable, else the config file, else the default.
 *
 * `flags` are by long name without dashes in camel case, as commander gives them (`logLevel`); `config` names
 * the file, else `COSIFT_CONFIG` does, else `cosift.json` in the working directory is read when it is there.
 * Throws `ConfigError` for a setting that is unknown or cannot be used.
 */
export function resolveConfig(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): ResolvedConfig {
  const named = Object.keys(env).filter((name) => name.startsWith('COSIFT_') && env[name] !== undefined);
  const injected = named.filter((name) => isInjected(name, env[name] as string));
  refuseUnknown(
    named.filter((name) => !injected.includes(name)),
    [...SETTINGS.map((setting) => setting.env), ...OTHER_ENV],
    'environment variable',
  );
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !injected.includes(name)));
  const file = readConfigFile((flags.config as string | undefined) ?? env.COSIFT_CONFIG);
  const values = new Map<string, unknown>();
  const settings = SETTINGS.map((setting) => {
    const { given, origin, source } = find(setting, flags, ownEnv, file);
    let value: unknown;
    try {
      value = given === undefined ? undefined : setting.parse(given);
    } catch (error) {
      throw new ConfigError(`${source}: ${(error as Error).message}`);
    }
    values.set(setting.name, value);
    const shown = value === undefined ? '(not set)' : setting.secret ? '(hidden)' : textOf(value);
    return { name: setting.name, value: shown, origin, source };
  });
  const warnings = injected.map(
    (name) =>
      `environment variable ${name} is ignored: Kubernetes sets it for a service of that name ` +
      '(enableServiceLinks: false in the pod keeps it out)',
  );
  return { config: configOf(values), settings, warnings };
}

const SERVICE_NAME =
  /^COSIFT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_PORT = /^COSIFT_(\w+_)?PORT$/;

/** Whether Kubernetes sets the variable in every pod for a service called `cosift` or `cosift-…`. */
function isInjected(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (SERVICE_PORT.test(name) && /^(tcp|udp|sctp):\/\//.test(value));
}

function textOf(value: unknown): string {
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, directory]) => `${name}=${directory}`)
    .join(',');
}

interface Found {
  given: unknown;
  origin: Origin;
  source: string;
}

function find(
  setting: Setting,
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  file: ConfigFile,
): Found {
  const { flag } = setting;
  const attribute = flag?.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (flag !== undefined && attribute !== undefined && flags[attribute] !== undefined) {
    return { given: flags[attribute], origin: 'flag', source: flag };
  }
  if (env[setting.env] !== undefined) {
    return { given: env[setting.env], origin: 'environment', source: setting.env };
  }
  if (file.values.has(setting.name)) {
    return { given: file.values.get(setting.name), origin: 'file', source: `${file.path}: ${setting.name}` };
  }
  return { given: setting.default, origin: 'default', source: 'default' };
}

interface ConfigFile {
  path: string;
  values: Map<string, unknown>;
}

function readConfigFile(named: string | undefined): ConfigFile {
  const file = named ?? DEFAULT_FILE;
  const values = new Map<string, unknown>();
  let json: string;
  try {
    json = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (named === undefined && code === 'ENOENT') return { path: file, values };
    throw new ConfigError(`cannot read the config file: ${message}`);
  }
  let members: unknown;
  try {
    members = JSON.parse(json);
  } catch (error) {
    throw new ConfigError(`${file}: ${(error as Error).message}`);
  }
  if (!isObject(members)) throw new ConfigError(`${file}: must hold one object`);
  for (const [name, value] of Object.entries(members)) {
    if (name === 'limits' && isObject(value)) {
      for (const [limit, most] of Object.entries(value)) values.set(`limits.${limit}`, most);
    } else {
      values.set(name, value);
    }
  }
  const known = SETTINGS.map(({ name }) => name);
  refuseUnknown([...values.keys()], known, `${file}: setting`);
  return { path: file, values };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseUnknown(names: readonly string[], known: readonly string[], what: string): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = suggest(unknown, known);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new ConfigError(`${what} ${unknown} is not known${hint}`);
}

function configOf(values: ReadonlyMap<string, unknown>): Config {
  // Each was parsed by its own setting, so that its type is settled.
  const value = <T>(name: string) => values.get(name) as T;
  return {
    host: value('host'),
    port: value('port'),
    data: path.resolve(value<string>('data')),
    adminKey: value('admin_key'),
    logLevel: value('log_level'),
    rateLimit: value('rate_limit'),
    maxSearches: value('max_searches'),
    answerTimeoutSeconds: value('answer_timeout_seconds'),
    maxConnections: value('max_connections'),
    threads: value('threads'),
    embedWorkers: value('embed_workers'),
    models: value<Record<string, string> | undefined>('models') ?? {},
    webhookAllow: value<string[] | undefined>('webhook_allow') ?? [],
    limits: Object.fromEntries(
      Object.keys(LIMITS).map((name) => [name, value<number>(`limits.${name}`)]),
    ) as unknown as Limits,
  };
}
