import { rmSync } from 'node:fs';
import path from 'node:path';
import { readIfExists, writeSecret } from './secret-file.js';

/** Whoever takes the lock of the directory removes the file, so it never names a server that ended without removing it. */
export const ADDRESS_FILE = 'address';

/** Returns the address of the server that has a data directory open; undefined if no server has. */
export async function readAddress(directory: string): Promise<string | undefined> {
  return (await readIfExists(path.join(directory, ADDRESS_FILE)))?.trim();
}

/** Tells other processes of this machine the address of the server that has a data directory open. */
export async function writeAddress(directory: string, url: string): Promise<void> {
  await writeSecret(path.join(directory, ADDRESS_FILE), `${url}\n`);
}

export function removeAddress(directory: string): void {
  rmSync(path.join(directory, ADDRESS_FILE), { force: true });
}
