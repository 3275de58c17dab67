import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'cosift';
import { vi } from 'vitest';
import { createEmbedder, packagedModel } from '../src/embedding/index.js';
import type { ModelDirectory } from '../src/embedding/model-directory.js';

declare global {
  var modelOfTests: Promise<unknown> | undefined;
  var fingerprintOfTests: Promise<string> | undefined;
}

const GRAPH = join(packagedModel('all-MiniLM-L6-v2'), 'onnx/model_quantized.onnx');

// Each opening reads all bytes of the built-in model for its fingerprint. Here they do not change.
vi.mock('../src/embedding/model-directory.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('../src/embedding/model-directory.js')>();
  const fingerprintOf = (directory: ModelDirectory) => {
    if (directory.graph !== GRAPH) return original.fingerprintOf(directory);
    globalThis.fingerprintOfTests ??= original.fingerprintOf(directory);
    return globalThis.fingerprintOfTests;
  };
  return { ...original, fingerprintOf };
});

// Files that run in one process load the built-in model once. The import of "cosift" by its name runs from dist.
globalThis.modelOfTests ??= Promise.all(
  [undefined, 1].flatMap((workers) => [createEmbedder({ workers }), ofLibrary(workers)]),
);

function ofLibrary(embedWorkers: number | undefined): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'cosift-model-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return open(directory, { embedWorkers, warm: true });
}
