import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, ConfigError, isLoopback } from '../config/index.js';
import { beginDatabases, type DatabaseService, type StoreServer } from '../databases/index.js';
import { removeAddress, writeAddress } from '../files/address-file.js';
import { FollowedSyncs } from '../sync/followed-syncs.js';
import type { ConfiguredSync } from '../sync/index.js';
import { sees } from './admission/access.js';
import { type AppOptions, buildApp, CAPACITY } from './app.js';
import { TIMEOUTS, type Timeouts } from './http/timeouts.js';
import { storeAdminKey } from './keys/admin-key.js';
import { EngineLog } from './observability/engine-log.js';
import { LOG_STREAM } from './observability/log-stream.js';
import { Preparation } from './preparation.js';
import { openServiceState, statementTimeoutMs } from './service-state.js';
import type { ServiceAdmin, ServiceState } from './shared-state.js';
import type { DeliveryTimes } from './webhooks/delivery.js';
import { Webhooks } from './webhooks/webhooks.js';

/** Minimum number of characters of an admin key, unless the server listens on a loopback address. */
const MIN_ADMIN_KEY = 16;

/**
 * Number of connections that may wait to be accepted; the system may allow fewer. With the 511 of Node, a thousand that
 * arrive together let further ones wait until their client sends again, after 0.2 to 1 s.
 */
const BACKLOG = 4096;

/** A server that listens. */
export interface Running {
  /** `http://host:port` */
  url: string;
  app: FastifyInstance;
  databases: DatabaseService;
  admin: ServiceAdmin;
  /** Finishes the requests in flight, then closes the port and releases the data directory. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Called once the databases are loaded, before requests are accepted. `/readyz` of `url` reports the progress. */
  beforeServing?(databases: DatabaseService, url: string): Promise<void>;
  /** Called when the service is ready, before anything is printed, so that whoever reads it can stop the service. */
  onReady?(running: Running): void;
  /** Timeouts and retry intervals of webhook deliveries. */
  deliveryTimes?: DeliveryTimes;
  /** Sources that the service follows once it is ready. Default: none. */
  syncs?: readonly ConfiguredSync[];
  /** The database that the printed link to the page selects. Default: none. */
  database?: string;
  /** Override the default timeouts. */
  timeouts?: Partial<Timeouts>;
  /** Prints a line for the person who starts the service. Default: to standard output. */
  print?(line: string): void;
}

/**
 * Starts the service. It listens at once, so that `/readyz` can report its state. When it is ready, it prints the admin
 * key if it made one, and `listening on …`.
 */
export async function start(config: Config, options: StartOptions = {}): Promise<Running> {
  const print = options.print ?? ((line: string) => process.stdout.write(`${line}\n`));
  const databases = await beginDatabases({
    directory: config.data,
    store: storeOf(config),
    threads: config.threads,
    vectorMemoryMegabytes: config.vectorMemoryMegabytes,
    embedWorkers: config.embedWorkers,
    limits: config.limits,
    models: config.models,
  });
  const preparation = new Preparation(databases);
  const syncs = new FollowedSyncs(databases, options.syncs ?? []);
  let state: ServiceState | undefined;
  let app: FastifyInstance | undefined;
  let webhooks: Webhooks | undefined;
  let engineLog: EngineLog | undefined;
  let hasAddress = false;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= runEach([
      () => hasAddress && removeAddress(config.data),
      () => app?.close(),
      () => webhooks?.close(),
      () => syncs.close(),
      () => state?.close(),
      () => databases.close(),
      () => engineLog?.stop(),
    ]);
    return closed;
  };
  try {
    state = await openServiceState(config);
    const { admin, keys } = state;
    checkAdminKey(config.host, admin);
    webhooks = openWebhooks(config, databases, state, options.deliveryTimes);
    const readiness = () => preparation.readiness();
    app = buildApp({ ...appOptions(config, options.timeouts), databases, keys, webhooks, syncs, readiness });
    engineLog = new EngineLog(databases.events, app.log);
    engineLog.start();
    await listen(app, config);
    const url = urlOf(app.server.address() as AddressInfo);
    await preparation.run(app.log, async () => options.beforeServing?.(databases, url));
    await webhooks.start(app.log);
    syncs.start(app.log);
    if (config.store === undefined) {
      hasAddress = true;
      await writeAddress(config.data, localUrlOf(url));
    }
    const running = { url, app, databases, admin, close };
    options.onReady?.(running);
    // Stored only now, so that a start that failed leaves no key behind that was never shown.
    if (admin.made && admin.key !== undefined) {
      await storeAdminKey({ ...admin, key: admin.key });
      print(`admin key (shown once, kept in ${admin.file}): ${admin.key}`);
      if (config.page) print(`page: ${pageLink(url, options.database, admin.key)}`);
    }
    print(`listening on ${url}`);
    return running;
  } catch (error) {
    // Errors of the cleanup are dropped: the caller needs the error of the start.
    await close().catch(() => undefined);
    throw error;
  }
}

function storeOf(config: Config): StoreServer | undefined {
  if (config.store === undefined) return undefined;
  return {
    url: config.store,
    connections: config.storeConnections,
    statementTimeoutMs: statementTimeoutMs(config),
    replica: config.storeReplica,
  };
}

function openWebhooks(
  config: Config,
  databases: DatabaseService,
  { keys, webhooks }: ServiceState,
  times: DeliveryTimes | undefined,
): Webhooks {
  return new Webhooks(webhooks, databases, {
    times,
    allow: config.webhookAllow,
    isAllowed: async (keyId, database) => {
      const caller = await keys.find(keyId);
      return caller?.actions.has('databases.manage') === true && sees(caller, database);
    },
  });
}

function appOptions(config: Config, timeouts: Partial<Timeouts> | undefined): Partial<AppOptions> {
  return {
    limits: config.limits,
    ...(config.rateLimit > 0 && { rate: { quota: config.rateLimit, windowSeconds: 60 } }),
    capacity: { ...CAPACITY, searches: config.maxSearches },
    maxConnections: config.maxConnections,
    page: config.page,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    mcpWrite: config.mcpWrite,
    timeouts: { ...TIMEOUTS, responseMs: config.answerTimeoutSeconds * 1000, ...timeouts },
    logger: { level: config.logLevel, stream: LOG_STREAM },
  };
}

/** @throws {ConfigError} when the setting of the host or the port is the cause. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    const fault = FAULTS[(error as NodeJS.ErrnoException).code ?? ''];
    throw fault === undefined ? error : new ConfigError(fault(host, port));
  }
}

/** By the code of a failed listen: what is wrong, and the fix. */
const FAULTS: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) =>
    `port ${port} of ${host} is in use; stop the other server, or choose another port with --port (0: any free one)`,
  EACCES: (_, port) => `port ${port} is reserved for privileged users; choose one above 1023 with --port`,
  EADDRNOTAVAIL: (host) => `${host} is not an address of this machine; choose another with --host`,
  ENOTFOUND: (host) => `there is no host ${host}; choose an address of this machine with --host`,
};

/** Runs all steps in order. A step that fails does not prevent the next ones; the errors are thrown at the end. */
async function runEach(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
}

/** A short admin key can be guessed, so it is accepted only when other machines cannot connect. */
function checkAdminKey(host: string, { key, file }: ServiceAdmin): void {
  // Without the key, its hash is that of a key that was made, which is long.
  if (key === undefined || key.length >= MIN_ADMIN_KEY || isLoopback(host)) return;
  throw new ConfigError(
    `the admin key has ${key.length} characters; to listen on ${host} it needs at least ${MIN_ADMIN_KEY}: ` +
      `set COSIFT_ADMIN_KEY to a longer one, or unset it and remove ${file} to have one made`,
  );
}

/** The address of the page with the key in the fragment, which browsers do not send and the page removes at once. */
function pageLink(url: string, database: string | undefined, key: string): string {
  return `${url}/#${new URLSearchParams({ ...(database && { database }), key })}`;
}

/** The address for the processes of this machine. A server that listens on all addresses can be reached on loopback ones. */
function localUrlOf(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
