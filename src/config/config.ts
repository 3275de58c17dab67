import type { Limits } from '../schema/limits.js';

/** Every setting of `cosift serve`. */
export interface Config {
  host: string;
  port: number;
  /** Absolute path of the data directory. */
  data: string;
  /** URL of the PostgreSQL database that keeps everything; undefined: the data directory. */
  store: string | undefined;
  /** Connections to the store for records. */
  storeConnections: number;
  /** After so many seconds, the store cancels a statement; undefined: never. */
  storeStatementTimeoutSeconds: number | undefined;
  /** URL of a replica of the store that answers searches and queries. */
  storeReplica: string | undefined;
  /** undefined: the key that is kept in the data directory. */
  adminKey: string | undefined;
  logLevel: string;
  /** Requests per minute of one key; 0: no limit. */
  rateLimit: number;
  /** Concurrent searches. */
  maxSearches: number;
  /** Whether the page at `/` is served. */
  page: boolean;
  /** Origins whose web pages may call the service, or `*`. */
  corsOrigins: readonly string[];
  /** Addresses and CIDR ranges of proxies whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[];
  answerTimeoutSeconds: number;
  /** Open connections. */
  maxConnections: number;
  /** Engine threads; undefined: the engine chooses. */
  threads: number | undefined;
  /** Embedding workers; undefined: the embedder chooses. */
  embedWorkers: number | undefined;
  limits: Limits;
  /** Absolute directories and URLs of endpoints of the models besides the built-in one, by name. */
  models: Readonly<Record<string, string>>;
  /** Addresses, CIDR ranges and host names that webhooks may reach although they are not public. */
  webhookAllow: readonly string[];
}

/** A setting that cannot be used. The message is one line for the person at the shell. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
