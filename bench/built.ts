import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Cosift, OpenOptions } from '../src/index.js';
import { ROOT_DIRECTORY } from './paths.js';

/** The library's entry. The bench measures what the build makes, not the sources through a loader. */
export async function openBuiltLibrary(directory: string, options?: OpenOptions): Promise<Cosift> {
  const file = pathToFileURL(join(ROOT_DIRECTORY, 'dist/index.js')).href;
  const { open } = (await import(file)) as typeof import('../src/index.js');
  return open(directory, options);
}

/** The command line of the server. */
export const SERVER = join(ROOT_DIRECTORY, 'dist/cli/main.js');
