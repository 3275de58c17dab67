import { afterEach } from 'vitest';
import * as built from '../dist/embedding/index.js';
import * as source from '../src/embedding/index.js';
import { cleanUp } from './helpers/processes.js';

afterEach(cleanUp);

// Files that run in one process load the built-in model once. The import of "cosift" by its name runs from dist.
declare global {
  var modelOfTests: Promise<unknown> | undefined;
}
globalThis.modelOfTests ??= Promise.all(
  [built, source].flatMap(({ createEmbedder }) => [createEmbedder(), createEmbedder({ workers: 1 })]),
);
