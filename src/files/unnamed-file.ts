import { openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Opens a temporary file for writing and reading; returns its descriptor. Its name is removed at once: the system frees the file
 * when it is closed or the process ends, whatever ends it.
 */
export async function openUnnamedFile(): Promise<number> {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-'));
  const descriptor = openSync(path.join(directory, 'data'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  return descriptor;
}

/** Says what to do where the directory of temporary files is full. */
export function noRoom(cause: unknown): Error {
  const advice = 'set TMPDIR to a directory with more room';
  return new Error(`there is no room in ${tmpdir()} for a temporary copy: ${advice}`, { cause });
}

/** Whether a file could not be written because there is no room. */
export function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
}
