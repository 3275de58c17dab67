import { LIMIT_MEANINGS, LIMITS, type Limits, maxOf } from '../schema/limits.js';
import {
  MAX_EMBED_WORKERS,
  MAX_THREADS,
  MAX_VECTOR_MEGABYTES,
  STORE_CONNECTIONS,
} from '../schema/open-options.js';
import {
  addressList,
  boolean,
  headerText,
  integer,
  modelSources,
  oneOf,
  originList,
  type Parser,
  proxyList,
  storeUrl,
  text,
  withoutPassword,
} from './parsers.js';

/** What is defined of a setting; {@link SETTINGS} adds its names. */
interface Definition {
  help: string;
  default?: string | number | boolean;
  /** The default when it is no fixed value. */
  defaultText?: string;
  unit?: string;
  /** Returns the value of the setting; throws when the value is not valid. */
  parse: Parser;
  /** It has no flag, because other users of the machine can read command lines. */
  secret?: true;
  /** Hides the password that a value may contain. */
  shown?: (value: string) => string;
  /** The flag may be repeated. */
  repeat?: true;
  /** The flag is `--no-NAME`, takes no value, and means `false`. */
  negated?: true;
}

export interface Setting extends Definition {
  /** Name in the config file; `a.b` is member `b` of the object `a`. */
  name: string;
  /** As `--long-name`. */
  flag?: string;
  /** Name of the environment variable. */
  env: string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The settings besides the limits, in the order in which they are shown. */
const DEFINITIONS = {
  host: {
    help: 'address to listen on',
    default: '127.0.0.1',
    parse: text,
  },
  port: {
    help: 'port to listen on; 0 takes any free one, which is printed',
    default: 8080,
    parse: integer(0, 65_535),
  },
  data: {
    help: 'data directory; created if missing; with a store, it has only the admin key and the models of this machine',
    default: './data',
    parse: text,
  },
  store: {
    help:
      'PostgreSQL database with pgvector that keeps the databases, keys and webhooks, for one or more services; the ' +
      'environment variable `PGPASSWORD` or a password file may have the password',
    defaultText: 'the data directory',
    parse: storeUrl,
    shown: withoutPassword,
  },
  store_connections: {
    help:
      'connections to the store, and as many to its replica, for requests about records; searches and queries take at ' +
      'most three quarters; further requests wait; keys, ' +
      'webhooks, notifications, probes and cancellations take up to 10 more',
    default: STORE_CONNECTIONS,
    // Each of up to 8 exports keeps one.
    parse: integer(9, 1_000),
  },
  store_statement_timeout_seconds: {
    help:
      'maximum time of a statement of the store, also of one that waits for another service; after it, 503 `timed_out`, ' +
      'and nothing is written',
    unit: 'seconds',
    defaultText: 'none',
    parse: integer(1, 86_400),
  },
  store_replica: {
    help: 'streaming replica of the store, which answers searches and queries of databases whose commits it has all replayed',
    defaultText: 'none',
    parse: storeUrl,
    shown: withoutPassword,
  },
  admin_key: {
    help: 'admin key, instead of the one in the file `admin.key` of the data directory',
    parse: headerText,
    secret: true,
  },
  log_level: {
    help: 'minimum level of the lines of the log',
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  },
  rate_limit: {
    help: 'requests of one key and the keys that it issued (a token bucket of this size); further ones get 429 `rate_limited`; 0 is no limit',
    unit: 'requests per minute',
    default: 600_000,
    parse: integer(0, 1_000_000_000),
  },
  max_searches: {
    help: 'concurrent searches and queries; further ones get 503 `busy`',
    default: 256,
    parse: integer(1, 100_000),
  },
  answer_timeout_seconds: {
    help:
      'maximum time of a search, a query, a deletion, or a read of a record, of changes or of a description; ' +
      'after it, 503 `timed_out`, and nothing is deleted',
    unit: 'seconds',
    default: 30,
    parse: integer(1, 3600),
  },
  max_connections: {
    help: 'open connections, at most half of the file descriptors of the process; further ones are closed on arrival',
    default: 10_000,
    parse: integer(1, 1_000_000),
  },
  page: {
    help: 'whether the page at `/` is served; the flag turns it off',
    default: true,
    parse: boolean,
    negated: true,
  },
  cors_origins: {
    help:
      'origins whose web pages may call the service (CORS), such as `https://app.example.com`; `*` allows all; ' +
      'the flag may be repeated',
    parse: originList,
    repeat: true,
  },
  trusted_proxies: {
    help:
      'addresses and CIDR ranges of proxies; in their requests, the header `x-forwarded-for` names the client, which the ' +
      'log contains; the flag may be repeated',
    parse: proxyList,
    repeat: true,
  },
  mcp_write: {
    help: 'whether agents get tools that write at `/mcp`, with a key that has the action `records.write`',
    default: false,
    parse: boolean,
  },
  threads: {
    help: 'threads that scan',
    defaultText: 'one per core',
    parse: integer(1, MAX_THREADS),
  },
  vector_memory_megabytes: {
    help: 'memory for what searches have read of vectors and codes, of all databases; given back while the machine is short of memory',
    unit: 'megabytes',
    defaultText: 'an eighth of the memory',
    parse: integer(0, MAX_VECTOR_MEGABYTES),
  },
  embed_workers: {
    help: 'threads that embed texts, each with a copy of the model',
    defaultText: 'one per core, at most 4',
    parse: integer(1, MAX_EMBED_WORKERS),
  },
  models: {
    help:
      'models in addition to the built-in one: directories, and endpoints such as `https://HOST/v1#model=NAME`; the ' +
      'flag may be repeated, and the config file has an object',
    parse: modelSources,
    repeat: true,
  },
  webhook_allow: {
    help:
      'addresses, CIDR ranges or host names that webhooks may reach although they are not public; the flag may be ' +
      'repeated, and the config file may have a list',
    parse: addressList,
    repeat: true,
  },
} as const satisfies Record<string, Definition>;

/** Every setting of the server, in the order in which it is shown. */
export const SETTINGS: readonly Setting[] = [
  ...Object.entries<Definition>(DEFINITIONS).map(([name, definition]) => ({
    ...definition,
    name,
    ...(!definition.secret && { flag: `${definition.negated ? '--no' : '-'}-${name.replaceAll('_', '-')}` }),
    env: `COSIFT_${name.toUpperCase()}`,
  })),
  ...(Object.keys(LIMITS) as (keyof Limits)[]).map((name) => ({
    name: `limits.${name}`,
    env: `COSIFT_LIMIT_${name.toUpperCase()}`,
    flag: `--limit-${name.replaceAll('_', '-')}`,
    help: LIMIT_MEANINGS[name],
    default: LIMITS[name],
    parse: integer(1, maxOf(name)),
  })),
];

type Definitions = typeof DEFINITIONS;
type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
type ValueOf<D extends Definition> =
  | ReturnType<D['parse']>
  | (D extends { default: unknown } ? never : D['parse']['absent']);

/** The values of all settings, by their names in camel case: `store_replica` is `storeReplica`. */
export type Config = { [Name in keyof Definitions as CamelCase<Name>]: ValueOf<Definitions[Name]> } & {
  limits: Limits;
};

/** The name in camel case, of a setting or of a flag without its dashes. */
export function camelCase(name: string): string {
  return name.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}
