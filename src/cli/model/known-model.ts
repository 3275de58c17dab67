import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isEndpoint } from '../../config/index.js';
import {
  checkModelSources,
  createEmbedder,
  fingerprintOf,
  installedModels,
  keptModels,
  packagedModel,
  readModelDirectory,
} from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { didYouMean, isPackagedModel, shown } from '../../schema/index.js';
import type { TargetOptions } from '../target.js';

/** A model whose files can be read. */
export interface KnownModel {
  name: string;
  directory: string;
  dimensions: number;
  maxTokens: number;
  fingerprint: string;
  bytes: number;
}

/** Returns the sources of all models that a data directory can use, by name: directories, and URLs of endpoints. */
export function modelSourcesOf({ data, models }: TargetOptions): Record<string, string> {
  checkModelSources(models);
  return { ...installedModels(), ...keptModels(data), ...models };
}

/** @throws {CosiftError} `invalid_request` when there is no model of this name. */
export function sourceOf(name: string, sources: Record<string, string>): string {
  const source = sources[name];
  if (source !== undefined) return source;
  if (isPackagedModel(name)) return packagedModel(name);
  const hint = didYouMean(name, Object.keys(sources));
  throw new CosiftError(
    'invalid_request',
    `there is no model ${shown(name)}${hint}; \`cosift model list\` shows all`,
  );
}

/**
 * Embeds a text and returns what identifies the vectors of the model.
 *
 * @throws {CosiftError} when the model or its vectors cannot be used.
 */
export async function verified(
  name: string,
  source: string,
): Promise<{ dimensions: number; fingerprint: string }> {
  if (isEndpoint(source)) {
    // It sends one text, and checks its vector.
    const embedder = await createEmbedder({ model: source, name });
    await embedder.close();
    return embedder;
  }
  const model = await readModel(name, source);
  await checkEmbedding(model);
  return model;
}

/** Reads the files of a model and computes its fingerprint. */
export async function readModel(name: string, directory: string): Promise<KnownModel> {
  const model = await readModelDirectory(directory);
  return {
    name,
    directory,
    dimensions: model.dimensions,
    maxTokens: model.maxTokens,
    fingerprint: await fingerprintOf(model),
    bytes: await bytesOf(directory),
  };
}

const TEXT = 'Lake Baikal is the deepest lake on Earth.';
/** Rounding of single-precision values. */
const MAX_DEVIATION = 1e-4;

/**
 * Embeds a text twice, with two copies of the model.
 *
 * @throws {CosiftError} when a vector has another length than 1 or than the model declares, or the vectors differ.
 */
export async function checkEmbedding({ name, directory, dimensions }: KnownModel): Promise<void> {
  const [first, second] = [await embed(directory), await embed(directory)];
  const problem = (reason: string) => new CosiftError('invalid_request', `model "${name}": ${reason}`);
  if (first.length !== dimensions) {
    throw problem(`a vector has ${first.length} values, and the model declares ${dimensions}`);
  }
  const norm = Math.hypot(...first);
  if (!(Math.abs(norm - 1) <= MAX_DEVIATION)) throw problem(`a vector has the length ${norm} instead of 1`);
  if (Buffer.compare(Buffer.from(first.buffer), Buffer.from(second.buffer)) !== 0) {
    throw problem('the same text has two different vectors');
  }
}

async function embed(directory: string): Promise<Float32Array> {
  const embedder = await createEmbedder({ model: directory, workers: 1 });
  try {
    return (await embedder.embedPassages([TEXT])).vectors;
  } finally {
    await embedder.close();
  }
}

async function bytesOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true });
  const sizes = await Promise.all(entries.map(async (entry) => stat(path.join(directory, entry))));
  return sizes.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}
