import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bench directory. */
export const BENCH_DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
/** The repository. */
export const ROOT_DIRECTORY = fileURLToPath(new URL('..', import.meta.url));

/** Runs a function with a new directory, and removes the directory afterwards. */
export async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'cosift-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
