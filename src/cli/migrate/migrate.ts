import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '../../client/index.js';
import { copyRecords, createTarget, migrateDatabase, type RecordSource } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { isServiceUrl, isStoreUrl, SERVICE_URL, STORE_URL } from '../../schema/service-address.js';
import type { RecordStore } from '../../store/record-store.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { duration, ProgressBar, plural } from '../progress-bar.js';
import { openServer } from '../target.js';
import { continuedWebhooks } from './continued-webhooks.js';
import { openDirectoryEndpoint } from './directory-endpoint.js';
import type { Endpoint } from './endpoint.js';
import { openPostgresEndpoint } from './postgres-endpoint.js';

export interface MigrateOptions {
  from: string;
  to: string;
  key?: string;
}

/** Moves everything of one endpoint to another. Sets the exit code. */
export async function migrate({ from, to, key }: MigrateOptions): Promise<void> {
  const isService = isServiceUrl(from);
  checkEndpoint('--from', from, [isServiceUrl, isStoreUrl]);
  checkEndpoint('--to', to, [isStoreUrl]);
  if (!isService && !isStoreUrl(from) && !existsSync(path.join(from, 'databases'))) {
    throw new CosiftError('invalid_request', `--from: ${from} is no data directory of cosift`);
  }
  const signal = abortOnSignal();
  const bar = new ProgressBar();
  const endpoints: Endpoint[] = [];
  try {
    const client = isService ? await openServer(from, { data: './data', ...(key && { key }) }) : undefined;
    if (client === undefined) endpoints.push(await openEndpoint(from));
    endpoints.push(await openEndpoint(to));
    const target = endpoints.at(-1) as Endpoint;
    if (client !== undefined) await copyFromService(client, target, signal, bar);
    else await moveAll(endpoints[0] as Endpoint, target, signal, bar);
  } catch (error) {
    bar.clear();
    endStopped(signal, error, 'run the same command to go on');
  } finally {
    for (const endpoint of endpoints.reverse()) await endpoint.close();
  }
}

/**
 * Throws for a URL that is not allowed, which is no name of a directory, either. The message does not repeat the URL,
 * because it may have a password.
 */
function checkEndpoint(option: string, place: string, allowed: ((place: string) => boolean)[]): void {
  // Also with one slash, because no directory has such a name.
  const isUrl = /^([a-z][a-z0-9+.-]+:\/\/|(postgres(ql)?|https?):)/i.test(place);
  if (isUrl ? allowed.some((isAllowed) => isAllowed(place)) : place !== '') return;
  const urls = allowed.includes(isServiceUrl) ? `${STORE_URL}, or ${SERVICE_URL}` : STORE_URL;
  throw new CosiftError('invalid_request', `${option}: must be a data directory, ${urls}`);
}

function openEndpoint(place: string): Promise<Endpoint> {
  return isStoreUrl(place) ? openPostgresEndpoint(place) : openDirectoryEndpoint(place);
}

/**
 * Notes which databases the target gets, because what they have besides the records of the source is deleted there.
 *
 * @throws {CosiftError} `database_exists` for a database that no unfinished migration made.
 */
async function reserve(target: Endpoint, ids: readonly string[]): Promise<void> {
  const { store, name } = target;
  const unfinished = new Set(await target.unfinished());
  for (const { id } of await store.listDatabases()) {
    if (unfinished.has(id) || !ids.includes(id)) continue;
    throw new CosiftError(
      'database_exists',
      `${name} has a database "${id}" already: move to an empty target`,
    );
  }
  await target.setUnfinished([...new Set([...unfinished, ...ids])]);
}

/** Copies the records of a service that goes on, so that the migration of its stopped directory finds few differences. */
async function copyFromService(
  client: Client,
  target: Endpoint,
  signal: AbortSignal,
  bar: ProgressBar,
): Promise<void> {
  const source: RecordSource = {
    describeDatabase: (id) => client.database(id).describe(),
    exportLines: (id, { vectors }, signal) =>
      client.database(id).exportLines({ vectors, ...(signal && { signal }) }),
  };
  await target.store.load();
  const ids = (await client.databases()).map(({ id }) => id);
  await reserve(target, ids);
  for (const id of ids) {
    const started = Date.now();
    await createTarget(source, target.store, id);
    const { records: total } = await source.describeDatabase(id);
    const onProgress = (done: number) => bar.update('copied', done, total);
    const { records, written } = await copyRecords(source, target.store, id, { signal, onProgress });
    bar.clear();
    console.log(
      `"${id}": ${plural(records, 'record')} in ${duration(Date.now() - started)}, ${written} of them were different`,
    );
  }
  console.log('to finish, stop the service and run `cosift migrate --from` with its data directory');
}

async function moveAll(
  source: Endpoint,
  target: Endpoint,
  signal: AbortSignal,
  bar: ProgressBar,
): Promise<void> {
  await source.store.load();
  await target.store.load();
  const ids = (await source.store.listDatabases()).map(({ id }) => id);
  await reserve(target, ids);
  const webhooks = await source.webhooks();
  for (const id of ids) {
    signal.throwIfAborted();
    const hasFeed = await moveDatabase(source.store, target, id, signal, bar);
    const ofDatabase = webhooks.filter(({ database }) => database === id);
    if (ofDatabase.length === 0) continue;
    await target.addWebhooks(await continuedWebhooks(ofDatabase, id, source.store, target.store, hasFeed));
  }
  for (const alias of await source.store.aliases()) await target.store.setAlias(alias);
  const keys = await moveKeys(source, target);
  await target.setUnfinished([]);
  console.log(
    `moved ${plural(ids.length, 'database')}, ${plural(keys, 'key')} and ${plural(webhooks.length, 'webhook')} ` +
      `to ${target.name}; ${source.name} is as it was`,
  );
}

/** Returns whether the change feed goes on. */
async function moveDatabase(
  source: RecordStore,
  target: Endpoint,
  id: string,
  signal: AbortSignal,
  bar: ProgressBar,
): Promise<boolean> {
  if ((await source.reembedder.find(id)) !== null) {
    const detail = `database "${id}" is being embedded with another model: let that end, or cancel it`;
    throw new CosiftError('reembedding_running', detail);
  }
  await createTarget(source, target.store, id);
  const started = Date.now();
  const { records, checksum, hasFeed } = await migrateDatabase(source, target, id, {
    signal,
    onProgress: (pass, done, total) => bar.update(pass === 1 ? 'copied' : 'compared', done, total),
  });
  bar.clear();
  const feed = hasFeed ? 'its change feed goes on' : 'its change feed begins again';
  console.log(
    `"${id}": ${plural(records, 'record')} in ${duration(Date.now() - started)}, equal in both ` +
      `(SHA-256 ${checksum.slice(0, 16)}…); ${feed}`,
  );
  return hasFeed;
}

/** Returns the number of keys. */
async function moveKeys(source: Endpoint, target: Endpoint): Promise<number> {
  const keys = await source.keys.read();
  await target.keys.change((stored) => {
    const known = new Set(stored.map(({ key_id }) => key_id));
    return [...stored, ...keys.filter(({ key_id }) => !known.has(key_id))];
  });
  const admin = await source.adminHash();
  const isValid = admin !== undefined && (await target.setAdminHash(admin));
  console.log(
    isValid
      ? 'the admin key stays valid'
      : 'the admin key is not moved: COSIFT_ADMIN_KEY sets that of a service',
  );
  return keys.length;
}
