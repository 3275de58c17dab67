import { LIMIT_MEANINGS, LIMITS, type Limits, maxOf } from '../schema/limits.js';
import { MAX_EMBED_WORKERS, MAX_THREADS, STORE_CONNECTIONS } from '../schema/open-options.js';
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

export interface Setting {
  /** Name in the config file; `a.b` is member `b` of the object `a`. */
  name: string;
  /** As `--long-name`. A secret has no flag, because other users of the machine can read command lines. */
  flag?: string;
  /** Name of the environment variable. */
  env: string;
  help: string;
  default?: string | number | boolean;
  /** The default when it is no fixed value. */
  defaultText?: string;
  /** Unit of a number. */
  unit?: string;
  /** Returns the value of the setting; throws when the value is not valid. */
  parse: Parser;
  secret?: true;
  /** Hides the password that a value may contain. */
  shown?: (value: string) => string;
  /** The flag may be repeated. */
  repeat?: true;
  /** The flag is `--no-NAME`, takes no value, and means `false`. */
  negated?: true;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

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
    help: 'port to listen on; 0 takes any free one, which is printed',
    default: 8080,
    parse: integer(0, 65_535),
  },
  {
    name: 'data',
    flag: '--data',
    env: 'COSIFT_DATA',
    help: 'data directory; created if missing; with a store, it has only the admin key and the models of this machine',
    default: './data',
    parse: text,
  },
  {
    name: 'store',
    flag: '--store',
    env: 'COSIFT_STORE',
    help:
      'PostgreSQL database with pgvector that keeps the databases, keys and webhooks, for one or more services; the ' +
      'environment variable `PGPASSWORD` or a password file may have the password',
    defaultText: 'the data directory',
    parse: storeUrl,
    shown: withoutPassword,
  },
  {
    name: 'store_connections',
    flag: '--store-connections',
    env: 'COSIFT_STORE_CONNECTIONS',
    help:
      'connections to the store, and as many to its replica, for requests about records; searches and queries take at ' +
      'most three quarters; further requests wait; keys, ' +
      'webhooks, notifications, probes and cancellations take up to 10 more',
    default: STORE_CONNECTIONS,
    // Each of up to 8 exports keeps one.
    parse: integer(9, 1_000),
  },
  {
    name: 'store_statement_timeout_seconds',
    flag: '--store-statement-timeout-seconds',
    env: 'COSIFT_STORE_STATEMENT_TIMEOUT_SECONDS',
    help:
      'maximum time of a statement of the store, also of one that waits for another service; after it, 503 `timed_out`, ' +
      'and nothing is written',
    unit: 'seconds',
    defaultText: 'none',
    parse: integer(1, 86_400),
  },
  {
    name: 'store_replica',
    flag: '--store-replica',
    env: 'COSIFT_STORE_REPLICA',
    help: 'streaming replica of the store, which answers searches and queries of databases whose commits it has all replayed',
    defaultText: 'none',
    parse: storeUrl,
    shown: withoutPassword,
  },
  {
    name: 'admin_key',
    env: 'COSIFT_ADMIN_KEY',
    help: 'admin key, instead of the one in the file `admin.key` of the data directory',
    parse: headerText,
    secret: true,
  },
  {
    name: 'log_level',
    flag: '--log-level',
    env: 'COSIFT_LOG_LEVEL',
    help: 'minimum level of the lines of the log',
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  },
  {
    name: 'rate_limit',
    flag: '--rate-limit',
    env: 'COSIFT_RATE_LIMIT',
    help: 'requests of one key and the keys that it issued (a token bucket of this size); further ones get 429 `rate_limited`; 0 is no limit',
    unit: 'requests per minute',
    default: 600_000,
    parse: integer(0, 1_000_000_000),
  },
  {
    name: 'max_searches',
    flag: '--max-searches',
    env: 'COSIFT_MAX_SEARCHES',
    help: 'concurrent searches and queries; further ones get 503 `busy`',
    default: 256,
    parse: integer(1, 100_000),
  },
  {
    name: 'answer_timeout_seconds',
    flag: '--answer-timeout-seconds',
    env: 'COSIFT_ANSWER_TIMEOUT_SECONDS',
    help:
      'maximum time of a search, a query, a deletion, or a read of a record, of changes or of a description; ' +
      'after it, 503 `timed_out`, and nothing is deleted',
    unit: 'seconds',
    default: 30,
    parse: integer(1, 3600),
  },
  {
    name: 'max_connections',
    flag: '--max-connections',
    env: 'COSIFT_MAX_CONNECTIONS',
    help: 'open connections, at most half of the file descriptors of the process; further ones are closed on arrival',
    default: 10_000,
    parse: integer(1, 1_000_000),
  },
  {
    name: 'page',
    flag: '--no-page',
    env: 'COSIFT_PAGE',
    help: 'whether the page at `/` is served; the flag turns it off',
    default: true,
    parse: boolean,
    negated: true,
  },
  {
    name: 'cors_origins',
    flag: '--cors-origins',
    env: 'COSIFT_CORS_ORIGINS',
    help:
      'origins whose web pages may call the service (CORS), such as `https://app.example.com`; `*` allows all; ' +
      'the flag may be repeated',
    parse: originList,
    repeat: true,
  },
  {
    name: 'trusted_proxies',
    flag: '--trusted-proxies',
    env: 'COSIFT_TRUSTED_PROXIES',
    help:
      'addresses and CIDR ranges of proxies; in their requests, the header `x-forwarded-for` names the client, which the ' +
      'log contains; the flag may be repeated',
    parse: proxyList,
    repeat: true,
  },
  {
    name: 'threads',
    flag: '--threads',
    env: 'COSIFT_THREADS',
    help: 'threads that scan',
    defaultText: 'one per core',
    parse: integer(1, MAX_THREADS),
  },
  {
    name: 'embed_workers',
    flag: '--embed-workers',
    env: 'COSIFT_EMBED_WORKERS',
    help: 'threads that embed texts, each with a copy of the model',
    defaultText: 'one per core, at most 4',
    parse: integer(1, MAX_EMBED_WORKERS),
  },
  {
    name: 'models',
    flag: '--models',
    env: 'COSIFT_MODELS',
    help:
      'models in addition to the built-in one: directories, and endpoints such as `https://HOST/v1#model=NAME`; the ' +
      'flag may be repeated, and the config file has an object',
    parse: modelSources,
    repeat: true,
  },
  {
    name: 'webhook_allow',
    flag: '--webhook-allow',
    env: 'COSIFT_WEBHOOK_ALLOW',
    help:
      'addresses, CIDR ranges or host names that webhooks may reach although they are not public; the flag may be ' +
      'repeated, and the config file may have a list',
    parse: addressList,
    repeat: true,
  },
  ...(Object.keys(LIMITS) as (keyof Limits)[]).map((name) => ({
    name: `limits.${name}`,
    env: `COSIFT_LIMIT_${name.toUpperCase()}`,
    flag: `--limit-${name.replaceAll('_', '-')}`,
    help: LIMIT_MEANINGS[name],
    default: LIMITS[name],
    parse: integer(1, maxOf(name)),
  })),
];
