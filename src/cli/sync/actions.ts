import { isCode } from '../../errors.js';
import type { DatabaseSettings, SyncDescription } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import type { SyncRequest } from '../../sync/followed-syncs.js';
import type { ConfiguredSync, Sync, SyncSource, SyncStatus } from '../../sync/index.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { embedIn } from '../embed-options.js';
import { printable, shownJson } from '../failure.js';
import { note, writeLines } from '../output.js';
import { ProgressBar, plural } from '../progress-bar.js';
import { checkDataDirectory } from '../target.js';
import { configuredIn, definitionOf, invalid, type SyncOptions } from './definition.js';
import { openPlace, type Place } from './place.js';
import { type MadePass, ServerSyncs, transportTo } from './server.js';
import { statusLine } from './status-line.js';

/** Records that `check` shows. */
const SHOWN_RECORDS = 3;
/** Refused rows that are printed. */
const SHOWN_REFUSALS = 20;

export async function check(name: string | undefined, options: SyncOptions): Promise<void> {
  const { openTableSource } = await import('../../sync/index.js');
  const definition = await definitionOf(name, options);
  const signal = abortOnSignal();
  const source = await openTableSource(definition.source);
  try {
    const { columns, key, notices } = await source.shape(signal);
    const lines = [
      ...(await positionLines(definition, options)),
      `key: ${key.join(', ')}`,
      ...columns.map((column) => `column ${column.name}${column.type === '' ? '' : `: ${column.type}`}`),
      ...notices.map((notice) => `note: ${notice}`),
      ...(await firstRecords(source, definition.name, signal)),
    ];
    await writeLines(lines.map(printable));
  } finally {
    await source.close();
  }
}

/** What a server has of the source, so that its key and its address are checked, too. */
async function positionLines(
  { name, database }: { name: string; database?: string },
  options: SyncOptions,
): Promise<string[]> {
  const { url } = options;
  if (url === undefined || database === undefined) return [];
  const { readPosition } = await import('./remote-target.js');
  try {
    const { records } = await readPosition(await transportTo(url, options), database, name);
    return [`records at ${url}: ${count(records)}`];
  } catch (error) {
    if (!isCode(error, 'database_not_found')) throw error;
    return [`database "${database}" is missing at ${url}; \`cosift sync run\` creates it`];
  }
}

async function firstRecords(source: SyncSource, name: string, signal: AbortSignal): Promise<string[]> {
  const round = await source.round(null, true, signal);
  if (round === null) return [];
  try {
    for await (const { rows, refused = [] } of round.batches) {
      return [
        ...(round.total === undefined ? [] : [`rows: ${count(round.total)}`]),
        ...rows.slice(0, SHOWN_RECORDS).map(({ key, data, created, changed }) => {
          return shownJson({ key: `${name}/${key}`, data, created_at: created, changed_at: changed });
        }),
        ...refused.slice(0, SHOWN_RECORDS).map(({ key, reason }) => `refused: ${name}/${key}: ${reason}`),
      ];
    }
    return ['rows: 0'];
  } finally {
    await round.close();
  }
}

export async function run(name: string | undefined, options: SyncOptions): Promise<void> {
  const stop = abortOnSignal();
  const { definition, place } = await opened(name, options);
  const bar = new ProgressBar();
  // A status that cannot be read or printed ends the command, unless it is stopping anyway.
  let onFailure: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    onFailure = reject;
  });
  failed.catch(() => undefined);
  try {
    const { ensureDatabase } = await import('../../sync/ensure-database.js');
    const { onChange } = await import('../../sync/index.js');
    const { isTemporary } = await import('../../sync/sync.js');
    const { database, embed } = definition;
    await ensureDatabase(
      place.databases,
      database,
      embedIn<NonNullable<DatabaseSettings['embed']>>(embed, options),
    );
    const show = onChange(
      () => described(sync, definition),
      ['state', 'reason', 'refused', 'withheld', 'by_scan', 'records'],
      async (description) => {
        bar.clear();
        await printStatus(description, options);
      },
    );
    await using sync: Sync = await openSync(place, definition, {
      stop,
      bar,
      waits: true,
      everyMs: options.once ? undefined : definition.everyMs,
      // A server that cannot be reached is the failure of the next attempt.
      onAttempt: () => show().catch((error) => isTemporary(error) || onFailure(error)),
    });
    if (options.once) {
      const counts = await sync.once();
      await show();
      await reportCounts(counts, await described(sync, definition), options);
    } else await Promise.race([untilAborted(stop), failed]);
  } catch (error) {
    bar.clear();
    endStopped(stop, error, 'Run the same command to go on: rows that are stored are not embedded again.');
  } finally {
    await place.close();
  }
}

export async function status(name: string | undefined, options: SyncOptions): Promise<void> {
  const { url } = options;
  const shown =
    url === undefined ? await storedDescriptions(name, options) : await descriptionsAt(url, name, options);
  for (const { sync, isFollowed } of shown) {
    if (['withheld', 'failed'].includes(sync.state)) process.exitCode = 1;
    await printStatus(sync, options, isFollowed);
  }
}

interface Shown {
  sync: SyncDescription;
  /** Whether the server follows it. */
  isFollowed: boolean;
}

/** The sources that a server follows; and of syncs that others run, what the server has stored of them. */
async function descriptionsAt(url: string, name: string | undefined, options: SyncOptions): Promise<Shown[]> {
  const servers = await ServerSyncs.open(url, options);
  const followed = await servers.followed(name);
  const isComplete = options.database !== undefined && followed.length > 0;
  const wanted = isComplete ? [] : await wantedSyncs(name, options);
  const others = wanted.filter((one) => !followed.some((sync) => sync.name === one.name));
  if (others.length === 0) return (await servers.list(name)).map((sync) => ({ sync, isFollowed: true }));
  const { readPosition } = await import('./remote-target.js');
  const { describeSync } = await import('../../sync/index.js');
  const { storedStatus } = await import('../../sync/sync.js');
  const transport = await transportTo(url, options);
  const shown: Shown[] = followed.map((sync) => ({ sync, isFollowed: true }));
  for (const { name, database } of others) {
    const position = readPosition(transport, database, name);
    const status = await position.then(storedStatus).catch(unlessCreated(options));
    shown.push({ sync: describeSync(name, database, status), isFollowed: false });
  }
  return shown;
}

/** The syncs that the options name. Those of the config file, if they name none. */
async function wantedSyncs(
  name: string | undefined,
  options: SyncOptions,
): Promise<{ name: string; database: string }[]> {
  const { database } = options;
  if (database !== undefined) return [{ name: name ?? database, database }];
  return (await configuredIn(options)).filter((sync) => name === undefined || sync.name === name);
}

/** The first pass of a source of the config file creates its database. */
function unlessCreated({ database }: SyncOptions): (error: unknown) => Promise<SyncStatus> {
  return async (error) => {
    if (database !== undefined || !isCode(error, 'database_not_found')) throw error;
    const { NO_STATE, storedStatus } = await import('../../sync/sync.js');
    return storedStatus(NO_STATE);
  };
}

async function storedDescriptions(name: string | undefined, options: SyncOptions): Promise<Shown[]> {
  const { readSyncStatus } = await import('../../sync/open-sync.js');
  const { describeSync } = await import('../../sync/index.js');
  const wanted = await wantedSyncs(name, options);
  if (wanted.length === 0) {
    throw invalid(
      name === undefined
        ? 'there is no config file with the member sync: give --database'
        : `the config file has no source ${name}: give --database`,
    );
  }
  await checkDataDirectory(options);
  const { openDatabases } = await import('../../databases/index.js');
  // Another process may write the directory.
  const databases = await openDatabases({
    directory: options.data,
    ...(options.store === undefined ? { readOnly: true } : { store: { url: options.store } }),
  });
  try {
    const shown: Shown[] = [];
    for (const { name, database } of wanted) {
      const status = await readSyncStatus(databases, database, name).catch(unlessCreated(options));
      shown.push({ sync: describeSync(name, database, status), isFollowed: false });
    }
    return shown;
  } finally {
    await databases.close();
  }
}

async function described(sync: Sync, { name, database }: ConfiguredSync): Promise<SyncDescription> {
  const { describeSync } = await import('../../sync/index.js');
  return describeSync(name, database, await sync.status());
}

async function printStatus(
  description: SyncDescription,
  { json, from, database, given }: SyncOptions,
  isFollowed = false,
): Promise<void> {
  // `status` does not know the options with which others run a sync.
  const isKnown = isFollowed || from !== undefined || database === undefined;
  const confirm = isKnown
    ? `\`cosift sync confirm ${description.name}${given}\``
    : '`cosift sync confirm` with the options of the source';
  await writeLines([json ? JSON.stringify(description) : statusLine(description, confirm)]);
}

export function reconcile(name: string | undefined, options: SyncOptions): Promise<void> {
  return pass(name, options, 'reconcile');
}

export function confirm(name: string | undefined, options: SyncOptions): Promise<void> {
  return pass(name, options, 'confirm');
}

export async function remove(name: string | undefined, options: SyncOptions): Promise<void> {
  const { removeSync } = await import('../../sync/open-sync.js');
  const { definition, place } = await (options.database === undefined
    ? opened(name, options)
    : named(name ?? options.database, options.database, options));
  try {
    const deleteRecords = options.deleteRecords ?? false;
    const signal = abortOnSignal();
    const target = await place.open(definition.database, definition.name);
    const deleted = await removeSync(target, { name: definition.name, deleteRecords, signal });
    const records = deleteRecords ? `deleted ${plural(deleted, 'record')}` : 'its records stay';
    await writeLines([`"${definition.name}" is forgotten; ${records}`]);
    if (definition.source !== undefined) await forget(definition.source, signal);
  } finally {
    await place.close();
  }
}

/** Removes what was made at the server of a source. */
async function forget(definition: ConfiguredSync['source'], signal: AbortSignal): Promise<void> {
  if (definition.stream === undefined) return;
  const { openTableSource } = await import('../../sync/index.js');
  const source = await openTableSource(definition);
  try {
    await source.forget?.(signal);
    await writeLines([`the slot and the publication ${definition.stream} of its server are dropped`]);
  } finally {
    await source.close();
  }
}

async function named(name: string, database: string, options: SyncOptions) {
  if (options.url === undefined) await checkDataDirectory(options);
  return { definition: { name, database, source: undefined }, place: await openPlace(options) };
}

/** Makes one pass, or lets a server make it. */
async function pass(name: string | undefined, options: SyncOptions, kind: SyncRequest): Promise<void> {
  const stop = abortOnSignal();
  const bar = new ProgressBar();
  const wanted = name ?? (await onlyConfigured(options));
  const server = await followerOf(wanted, options);
  try {
    const { counts, description } = await (server === undefined
      ? ownPass(wanted, options, kind, stop, bar)
      : server.pass(wanted, kind, stop, bar));
    bar.clear();
    await reportCounts(counts, description, options);
  } catch (error) {
    bar.clear();
    endStopped(stop, error, server === undefined ? 'Run the same command to go on.' : 'The server goes on.');
  }
}

/** The name of the only source of the config file, unless the options describe one or name a database. */
async function onlyConfigured(options: SyncOptions): Promise<string | undefined> {
  if (options.from !== undefined || options.database !== undefined) return undefined;
  const [only, ...others] = await configuredIn(options);
  return others.length === 0 ? only?.name : undefined;
}

/** The server, if it is to make a pass: where it follows the source, or the options describe none. */
async function followerOf(name: string | undefined, options: SyncOptions): Promise<ServerSyncs | undefined> {
  const { url, from, maxDeletes } = options;
  if (url === undefined || from !== undefined) return undefined;
  const server = await ServerSyncs.open(url, options);
  const isDescribed = (await configuredIn(options)).some((sync) => sync.name === (name ?? sync.name));
  if (isDescribed && (await server.followed(name)).length === 0) return undefined;
  if (maxDeletes === undefined) return server;
  throw invalid('--max-deletes needs --from: a server takes the number of its config file');
}

/** Makes a pass in this process. */
async function ownPass(
  name: string | undefined,
  options: SyncOptions,
  kind: SyncRequest,
  stop: AbortSignal,
  bar: ProgressBar,
): Promise<MadePass> {
  if (options.url === undefined) await checkDataDirectory(options);
  const { definition, place } = await opened(
    name,
    options,
    'for a server, which follows the sources of its config file, give --url; stop `cosift sync run` for this command',
  );
  try {
    await using sync = await openSync(place, definition, { stop, bar, waits: false });
    const counts = await (kind === 'reconcile' ? sync.reconcile() : sync.confirm());
    return { counts, description: await described(sync, definition) };
  } finally {
    await place.close();
  }
}

interface OpenOptions {
  stop: AbortSignal;
  bar: ProgressBar;
  /** Whether it waits for another process that runs the sync of a server. */
  waits: boolean;
  everyMs?: number | undefined;
  onAttempt?: () => void;
}

async function openSync(
  place: Place,
  { name, database, source, maxDeletes }: ConfiguredSync,
  { stop, bar, waits, everyMs, onAttempt }: OpenOptions,
): Promise<Sync> {
  const { openTableSource, Sync } = await import('../../sync/index.js');
  const opened = await openTableSource(source);
  return new Sync(opened, await place.open(database, name, waits ? undefined : stop), {
    name,
    sourceFailure: place.sourceFailure,
    maxDeletes,
    everyMs,
    onAttempt,
    signal: stop,
    onProgress: ({ rows, total }) => {
      if (total !== undefined) bar.update('synced', rows, total);
    },
  });
}

async function opened(
  name: string | undefined,
  options: SyncOptions,
  advice?: string,
): Promise<{ definition: ConfiguredSync; place: Place }> {
  const { database, ...definition } = await definitionOf(name, options);
  if (database === undefined) throw invalid('give --database, the database that is kept in step');
  return { definition: { ...definition, database }, place: await openPlace(options, advice) };
}

async function reportCounts(
  { read, written, unchanged, deleted }: MadePass['counts'],
  { refused, refused_rows, withheld }: SyncDescription,
  { json }: SyncOptions,
): Promise<void> {
  if (withheld > 0) process.exitCode = 1;
  if (json) return;
  const facts = [`${count(written)} written`, `${count(unchanged)} unchanged`, `${count(deleted)} deleted`];
  if (refused > 0) facts.push(`${count(refused)} refused`);
  if (withheld > 0) facts.push(`${count(withheld)} withheld`);
  await writeLines([`${plural(read, 'row')}: ${facts.join(', ')}`]);
  for (const { key, reason } of refused_rows.slice(0, SHOWN_REFUSALS))
    note(printable(`refused ${key}: ${reason}`));
  if (refused > SHOWN_REFUSALS) note(`and ${count(refused - SHOWN_REFUSALS)} more`);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
