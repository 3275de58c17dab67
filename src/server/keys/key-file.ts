import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { KeyDescription } from '../../schema/index.js';

/** What is stored of a key: never the key itself. */
export interface StoredKey extends KeyDescription {
  /** Hexadecimal hash of the whole key. */
  sha256: string;
}

/** The keys in `keys.json` of a data directory, none when there is no such file. */
export async function readKeys(file: string): Promise<StoredKey[]> {
  const text = await readIfThere(file);
  if (text === undefined) return [];
  const { version, keys } = JSON.parse(text) as { version: number; keys: StoredKey[] };
  if (version !== 1) throw new Error(`${file} has version ${version}, this release reads version 1`);
  return keys;
}

export async function writeKeys(file: string, keys: readonly StoredKey[]): Promise<void> {
  await writeSecret(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
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
