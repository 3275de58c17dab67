import { fileURLToPath } from 'node:url';

/** The bench directory. */
export const BENCH_DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
/** The repository. */
export const ROOT_DIRECTORY = fileURLToPath(new URL('..', import.meta.url));
