import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CosiftError, isCode } from '../../errors.js';
import { packageVersion } from '../../platform/package.js';
import { parseJson } from '../../schema/index.js';
import {
  ARCHIVE_FORMAT,
  type ArchivedDatabase,
  MANIFEST,
  type Manifest,
  OTHER_FILES,
  storeFile,
  type TarSource,
  tarBytes,
  writeTar,
} from '../archive/index.js';
import type { StoreBackup } from '../record-store.js';
import type { Backup, NativeEngine } from './binding.js';
import { withStopFlag } from './stop-flag.js';
import { sha256Of, TemporaryCopy } from './temporary-copy.js';
import { unwrap } from './unwrap.js';

/** A file of an archive. */
type Entry = TarSource & { sha256: string };

/**
 * Copies one database, or all databases with the keys, the webhooks and the aliases, as they are at one moment.
 *
 * The stores are copied into files first, so that a slow reader of the archive holds no transaction.
 *
 * `onRelease` is called once, when the files of the archive are removed.
 *
 * @throws {CosiftError} `not_ready` when a database cannot be read; `damaged` when a record is not as it was written;
 * `disk_full`.
 */
export async function makeBackup(
  engine: NativeEngine,
  dataDirectory: string,
  database: string | undefined,
  signal: AbortSignal,
  onRelease: () => void,
): Promise<StoreBackup> {
  signal.throwIfAborted();
  if (database === undefined) refuseUnopened(engine);
  const read = (names: readonly string[]) =>
    database === undefined ? readOthers(dataDirectory, names) : Promise.resolve([]);
  const [keys, webhooks, aliases] = OTHER_FILES;
  // Before the moment, so that no webhook has a position that its database does not have yet, and no alias names a
  // database that is created after it.
  const readBefore = await read([webhooks, aliases]);
  const copies = unwrap(await engine.beginBackup(database));
  let copy: TemporaryCopy | undefined;
  try {
    // After the moment, so that every key that a copied change was made with is among them, unless it was revoked.
    const others = [...(await read([keys])), ...readBefore];
    const databases = parseJson<(ArchivedDatabase & { bytes: number })[]>(Buffer.from(copies.databases));
    const bytes = databases.reduce((sum, database) => sum + database.bytes, 0);
    copy = await TemporaryCopy.create(dataDirectory, bytes);
    const stores = await copyAll(engine, copies, databases, copy, signal);
    const entries = [...others, ...stores];
    const manifest: Manifest = {
      format: ARCHIVE_FORMAT,
      cosift: packageVersion(),
      created_at: new Date().toISOString(),
      databases: databases.map(({ bytes: _, ...database }) => database),
      files: entries.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    };
    const release = releasing(copy, onRelease);
    const all = [entryOf(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)), ...entries];
    return { bytes: tarBytes(all), chunks: archive(all, signal, release), release };
  } catch (error) {
    await copy?.remove();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CosiftError('store_failed', `the files of the backup failed (${code})`, { cause: error });
  } finally {
    copies.release();
  }
}

/** @throws {CosiftError} `not_ready`, with the names of the databases that could not be opened. */
function refuseUnopened(engine: NativeEngine): void {
  type Progress = { databases: { id: string; problem?: { code: string; detail: string } }[] };
  const { databases } = JSON.parse(engine.progress()) as Progress;
  const failed = databases.filter(({ problem }) => problem !== undefined).map(({ id }) => `"${id}"`);
  if (failed.length === 0) return;
  const detail =
    `the backup would lack ${failed.join(', ')}, which could not be opened: ` +
    'repair or drop what is damaged, or back up the other databases one by one';
  throw new CosiftError('not_ready', detail);
}

async function readOthers(dataDirectory: string, names: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const name of names) {
    try {
      // The file is only replaced as a whole, so the content is that of one moment.
      entries.push(entryOf(name, await readFile(path.join(dataDirectory, name))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return entries;
}

async function copyAll(
  engine: NativeEngine,
  copies: Backup,
  databases: readonly ArchivedDatabase[],
  { directory }: TemporaryCopy,
  signal: AbortSignal,
): Promise<Entry[]> {
  const files = databases.map(({ id }) => path.join(directory, `${id}.sqlite`));
  // All are copied before the first is read, so that no transaction lasts longer than it must.
  for (const [index, file] of files.entries()) {
    const copied = await withStopFlag(signal, (stop) => engine.copyBackup(copies, index, file, stop));
    try {
      unwrap(copied);
    } catch (error) {
      if (!isCode(error, 'damaged')) throw error;
      const detail = `database "${databases[index]?.id}" cannot be backed up: ${error.message}. "cosift doctor" says what is affected`;
      throw new CosiftError('damaged', detail);
    }
  }
  const entries: Entry[] = [];
  for (const [index, file] of files.entries()) {
    const { id } = databases[index] as ArchivedDatabase;
    const { size } = await stat(file);
    entries.push({
      path: storeFile(id),
      bytes: size,
      sha256: await sha256Of(file, signal),
      source: file,
    });
  }
  return entries;
}

function entryOf(path: string, bytes: Uint8Array): Entry {
  return {
    path,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    source: bytes,
  };
}

/** Returns a function that removes the copy and calls `onRelease`, both once. */
function releasing(copy: TemporaryCopy, onRelease: () => void): () => Promise<void> {
  let released: Promise<void> | undefined;
  return () => {
    released ??= copy.remove().finally(onRelease);
    return released;
  };
}

/** Yields the archive. Its files are removed before the last chunk: a reader that has it may begin the next backup at once. */
async function* archive(
  entries: readonly Entry[],
  signal: AbortSignal,
  release: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let last: Uint8Array | undefined;
  for await (const chunk of writeTar(entries)) {
    signal.throwIfAborted();
    if (last !== undefined) yield last;
    last = chunk;
  }
  await release();
  if (last !== undefined) yield last;
}
