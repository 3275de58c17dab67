import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { CosiftError } from '../errors.js';

/** The text of `file`; undefined if the file does not exist. */
export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Atomically and durably replaces the content of `file`, which only its owner can read.
 *
 * @throws {CosiftError} `disk_full` or `store_failed`; `file` is then unchanged, and no temporary file is left.
 */
export async function writeSecret(file: string, text: string): Promise<void> {
  const directory = path.dirname(file);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await rm(temporary, { force: true });
    // Opened first, because opening it after the rename could fail for lack of descriptors, although the change is made.
    const parent = await open(directory, 'r');
    try {
      await writeDurably(temporary, text);
      await rename(temporary, file);
      // The rename is durable only after its directory is synced.
      await parent.sync();
    } finally {
      await parent.close();
    }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw writeFailure(file, error);
  }
}

/** Removes temporary files of `file` that killed processes left. No process may be writing `file` meanwhile. */
export async function removeTemporaries(file: string): Promise<void> {
  const directory = path.dirname(file);
  const name = path.basename(file);
  for (const entry of await readdir(directory).catch(() => [])) {
    const isTemporary = entry.startsWith(`${name}.`) && /^\d+\.tmp$/.test(entry.slice(name.length + 1));
    if (isTemporary) await rm(path.join(directory, entry), { force: true });
  }
}

/** Converts the error of a failed system call to `disk_full` or `store_failed`; returns other errors unchanged. */
export function writeFailure(file: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CosiftError('disk_full', `${file} cannot be written: the disk is full`, { cause: error });
  }
  if (syscall === undefined) return error;
  return new CosiftError('store_failed', `${file} cannot be written (${code})`, { cause: error });
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
