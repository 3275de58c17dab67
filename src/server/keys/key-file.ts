import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CosiftError } from '../../errors.js';
import type { KeyDescription } from '../../schema/index.js';

/** What is stored of a key: never the key itself. */
export interface StoredKey extends KeyDescription {
  /** Hexadecimal hash of the whole key. */
  sha256: string;
}

/** Milliseconds after which a lock is one that a crash left. */
const STALE_MS = 10_000;

/** The keys in `keys.json` of a data directory, none when there is no such file. */
export function readKeys(file: string): StoredKey[] {
  if (stampOf(file) === undefined) return [];
  const { version, keys } = JSON.parse(readFileSync(file, 'utf8')) as { version: number; keys: StoredKey[] };
  if (version !== 1) throw new Error(`${file} has version ${version}, this release reads version 1`);
  return keys;
}

/** What differs once a file was replaced; undefined where there is none. */
export function stampOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}

/** Replaces the keys by what `change` makes of them. Durable when it resolves; one process at a time. */
export async function changeKeys(file: string, change: (keys: StoredKey[]) => StoredKey[]): Promise<void> {
  const unlock = await lock(`${file}.lock`);
  try {
    const keys = change(readKeys(file));
    await writeSecret(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
  } finally {
    await unlock();
  }
}

async function lock(file: string): Promise<() => Promise<void>> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const deadline = Date.now() + 2 * STALE_MS;
  for (;;) {
    try {
      await (await open(file, 'wx', 0o600)).close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (Date.now() > deadline) throw new CosiftError('busy', `${file} is held by another process`);
    }
    const held = await stat(file).catch(() => undefined);
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_MS) await rm(file, { force: true });
    else await pause(10);
  }
}

export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces `file` by one that only its owner can read; after a crash it holds the old text or the new. */
export async function writeSecret(file: string, text: string): Promise<void> {
  const directory = path.dirname(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, file);
  // The rename itself is durable only once its directory is.
  const parent = await open(directory, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
