import type { TextSource } from '../api/text-line.js';
import { builtInModel, fingerprintOf, readModelDirectory } from '../embedding/index.js';
import { type DatabaseSettings, LIMITS, type LineEvent } from '../schema/index.js';
import { RecordChecker } from '../store/local/index.js';
import type { StoreSettings } from '../store/record-store.js';
import type { Destination } from './commit-records.js';
import { BUILT_IN_MODEL } from './models.js';
import { upsertLines } from './upsert-lines.js';
import { WriteBarrier } from './write-barrier.js';

/**
 * The bytes of a record that has no more passages than allowed in any case: two passages together fill most of the window of
 * the model, and a token has at least one byte.
 */
export const SHORT_RECORD_BYTES = 16 * LIMITS.passages_per_record;

export interface CheckOptions {
  /** The number of columns of all records, if it is known. Otherwise the check takes longer. */
  columns?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields what an upsert of lines into a new database with these settings would yield, with the default limits. Nothing is
 * embedded or stored.
 *
 * @throws {CosiftError} `invalid_request` for settings that no database can have.
 */
export async function* checkLines(
  settings: DatabaseSettings,
  chunks: AsyncIterable<Uint8Array>,
  { columns, signal }: CheckOptions = {},
): AsyncGenerator<LineEvent> {
  const stored = await storeSettings(settings);
  const barrier = new WriteBarrier();
  const destination: Destination = {
    store: new RecordChecker(stored, LIMITS, { columns, shortBytes: SHORT_RECORD_BYTES }),
    id: 'new',
    barrier: () => barrier,
    embed: (source: TextSource) => Promise.resolve(placeholders(source, stored)),
    closing: new AbortController().signal,
    refresh: () => Promise.resolve(),
  };
  yield* upsertLines(destination, chunks, LIMITS.record_bytes, { signal });
}

async function storeSettings(settings: DatabaseSettings): Promise<StoreSettings> {
  const { dimensions } = settings;
  if (dimensions !== undefined) return { ...settings, model: null, fingerprint: null, dimensions };
  const directory = await readModelDirectory(builtInModel());
  const fingerprint = await fingerprintOf(directory);
  return { ...settings, model: BUILT_IN_MODEL, fingerprint, dimensions: directory.dimensions };
}

/** Any unit vector for each text: the rules of records do not depend on it. */
function placeholders(source: TextSource, { dimensions, fingerprint }: StoreSettings) {
  const vectors = new Float32Array(source.texts().length * dimensions);
  for (let at = 0; at < vectors.length; at += dimensions) vectors[at] = 1;
  return { vectors, fingerprint: fingerprint ?? undefined };
}
