import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Backend, LocalBackend } from '../backend/index.js';
import type { Config } from '../config.js';
import { buildApp, CAPACITY, TIMEOUTS } from './app.js';
import { EngineLog } from './engine-log.js';
import { type AdminKey, adminKey, KeyStore } from './keys/key-store.js';
import type { DeliveryTimes } from './webhooks/webhook.js';
import { Webhooks } from './webhooks/webhooks.js';

/** A server that listens. */
export interface Running {
  /** `http://host:port` */
  url: string;
  app: FastifyInstance;
  backend: Backend;
  admin: AdminKey;
  /** Answers what is in flight, then lets go of port and data. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Called once the databases are loaded, before anything is served. `url` answers how far the start has come. */
  beforeServing?(backend: Backend, url: string): Promise<void>;
  /** How patiently webhooks are delivered. */
  deliveryTimes?: DeliveryTimes;
  /** Takes the lines for the person who starts it; default: standard output. */
  print?(line: string): void;
}

/**
 * Starts the service. It listens at once, to tell of its state; it prints a new admin key, once ever, and
 * `listening on …` when it is ready.
 */
export async function start(config: Config, options: StartOptions = {}): Promise<Running> {
  const print = options.print ?? ((line: string) => process.stdout.write(`${line}\n`));
  const backend = LocalBackend.begin({
    directory: config.data,
    threads: config.threads,
    embedWorkers: config.embedWorkers,
    limits: config.limits,
    models: config.models,
  });
  let app: FastifyInstance | undefined;
  let webhooks: Webhooks | undefined;
  let engineLog: EngineLog | undefined;
  let preparing: string | undefined = 'the service is being prepared';
  try {
    const admin = await adminKey(config.data, config.adminKey);
    // At once: a start that fails later must not leave a key that was never shown.
    if (admin.made) print(`admin key (shown once, kept in ${admin.file}): ${admin.key}`);
    const keys = new KeyStore(config.data, admin.key);
    webhooks = await Webhooks.open(config.data, backend, options.deliveryTimes);
    app = buildApp({
      backend,
      keys,
      webhooks,
      readiness: () => {
        const state = backend.readiness();
        if (!state.ready || preparing === undefined) return state;
        return { ...state, ready: false, reasons: [preparing] };
      },
      limits: config.limits,
      ...(config.rateLimit > 0 && { rate: { quota: config.rateLimit, windowSeconds: 60 } }),
      capacity: { ...CAPACITY, searches: config.maxSearches },
      timeouts: { ...TIMEOUTS, answerMs: config.answerTimeoutSeconds * 1000 },
      // Logs are not for the reader of standard output, who waits for one line.
      logger: { level: config.logLevel, stream: process.stderr },
    });
    engineLog = new EngineLog(backend, app.log);
    engineLog.start();
    await app.listen({ host: config.host, port: config.port });
    const url = urlOf(app.server.address() as AddressInfo);
    await backend.ready;
    preparing = 'models are being loaded';
    for (const { model, error } of await backend.loadModels())
      app.log.error({ model, err: error }, 'model not loaded');
    preparing = 'the service is being prepared';
    await options.beforeServing?.(backend, url);
    preparing = undefined;
    const listening = app;
    const delivering = webhooks;
    const logging = engineLog;
    delivering.start(app.log);
    print(`listening on ${url}`);
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= listening
        .close()
        .then(() => delivering.close())
        .then(() => backend.close())
        .finally(() => logging.stop());
      return closed;
    };
    return { url, app, backend, admin, close };
  } catch (error) {
    await app?.close();
    await webhooks?.close();
    await backend.close();
    engineLog?.stop();
    throw error;
  }
}

/** Resolves once a signal asked for the stop and the stop is done. A second signal stops at once. */
export function untilSignal(running: Running): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) {
        process.exit(signal === 'SIGINT' ? 130 : 143);
      }
      stopping = true;
      running.close().then(resolve, reject);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
