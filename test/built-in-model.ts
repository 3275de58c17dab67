import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'cosift';
import { createEmbedder } from '../src/embedding/index.js';

declare global {
  var modelOfTests: Promise<unknown> | undefined;
}

// Files that run in one process load the built-in model once. The import of "cosift" by its name runs from dist.
globalThis.modelOfTests ??= Promise.all(
  [undefined, 1].flatMap((workers) => [createEmbedder({ workers }), ofLibrary(workers)]),
);

function ofLibrary(embedWorkers: number | undefined): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'cosift-model-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return open(directory, { embedWorkers, warm: true });
}
