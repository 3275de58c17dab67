import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { externalDataOf } from './external-data.js';
import type { ModelDirectory } from './model-directory.js';

/** Increased when this code makes different vectors from the same files. */
const VECTORS_VERSION = 1;

/** File systems round times. A file that has changed since then may change again, and keep its times. */
const ROUNDING_MS = 2_000;

/** The fingerprints of models whose files this process has read, by their settings and the states of their files. */
const known = new Map<string, Promise<string>>();

/**
 * SHA-256, in hexadecimal, of everything that determines the vectors of a model. The files are read again when their sizes or
 * times change.
 */
export async function fingerprintOf(directory: ModelDirectory): Promise<string> {
  const { pooling, layers, maxTokens, lowerCase, prompts, tokenizer } = directory;
  const settings = JSON.stringify({
    version: VECTORS_VERSION,
    pooling: pooling.length === 1 ? pooling[0] : pooling,
    maxTokens,
    lowerCase,
    prompts,
    // Absent from most models, whose fingerprint is the same as before these members existed.
    ...(layers.length > 0 && { layers: layers.map((layer) => ({ ...layer, weights: undefined })) }),
    ...(tokenizer.length > 0 && { tokenizer }),
  });
  const files = await filesOf(directory);
  const states = await Promise.all(files.map(stateOf));
  const key = JSON.stringify([settings, states.map(({ state }) => state)]);
  const kept = known.get(key);
  if (kept !== undefined) return await kept;
  const fingerprint = hashOf(settings, files);
  const settledNs = (Date.now() - ROUNDING_MS) * 1e6;
  if (states.every(({ changedNs }) => changedNs < settledNs)) {
    known.set(key, fingerprint);
    fingerprint.catch(() => known.delete(key));
  }
  return await fingerprint;
}

/** The files that determine the vectors of a model, besides its settings. */
async function filesOf({ graph, path, layers }: ModelDirectory): Promise<string[]> {
  const folder = dirname(graph);
  // Large models store their weights next to the graph, as model.onnx_data or model.onnx.data.
  const parts = (await readdir(folder)).filter((name) => name.startsWith(basename(graph))).sort();
  // A graph may name other files. A damaged graph is refused when it is loaded, and so is one whose files are missing.
  const named = await externalDataOf(graph).catch(() => []);
  for (const name of named) {
    if (!parts.includes(name) && existsSync(join(folder, name))) parts.push(name);
  }
  return [
    ...parts.map((name) => join(folder, name)),
    join(path, 'tokenizer.json'),
    ...layers.flatMap((layer) => (layer.kind === 'dense' ? [layer.weights] : [])),
  ];
}

/** What changes with the bytes of a file, and when it last did. */
async function stateOf(file: string): Promise<{ state: string[]; changedNs: number }> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  const state = [file, ...[dev, ino, size, mtimeNs, ctimeNs].map(String)];
  return { state, changedNs: Math.max(Number(mtimeNs), Number(ctimeNs)) };
}

async function hashOf(settings: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(settings);
  for (const file of files) {
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { end: false });
  }
  return hash.digest('hex');
}
