import {
  fingerprintOf,
  packagedModel,
  placeholderVectors,
  readModelDirectory,
  shortLength,
} from '../embedding/index.js';
import { BUILT_IN_MODEL, type DatabaseSettings, DEFAULTS, LIMITS, type LineEvent } from '../schema/index.js';
import { RecordChecker } from '../store/local/index.js';
import type { StoreSettings } from '../store/record-store.js';
import type { Destination } from './commit-records.js';
import type { EmbedTexts } from './database-embedder.js';
import { upsertLines } from './upsert-lines.js';
import { WriteBarrier } from './write-barrier.js';

/** The bytes of a record that has no more passages than the settings allow in any case. */
export function shortRecordBytes({ embed: { passages } = {} }: Pick<DatabaseSettings, 'embed'>): number {
  return shortLength({ ...passages, perRecord: passages?.per_record ?? DEFAULTS.passages_per_record });
}

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
  const { settings: stored, embed } = await rulesOf(settings);
  const barrier = new WriteBarrier();
  const destination: Destination = {
    store: new RecordChecker(stored, LIMITS, { columns, shortBytes: shortRecordBytes(settings) }),
    id: 'new',
    barrier: () => barrier,
    embed,
    closing: new AbortController().signal,
    refresh: () => Promise.resolve(),
  };
  yield* upsertLines(destination, chunks, LIMITS.batch_bytes, { signal });
}

interface Rules {
  settings: StoreSettings;
  embed: EmbedTexts;
}

/** The settings of the new database, and vectors that are as good as those of its model for the rules of records. */
async function rulesOf(settings: DatabaseSettings): Promise<Rules> {
  const { dimensions } = settings;
  if (dimensions !== undefined) {
    const embed = () => Promise.resolve({ vectors: new Float32Array() });
    return { settings: { ...settings, model: null, fingerprint: null, dimensions }, embed };
  }
  const directory = await readModelDirectory(packagedModel(BUILT_IN_MODEL));
  const fingerprint = await fingerprintOf(directory);
  const vectorsOf = placeholderVectors(directory);
  return {
    settings: { ...settings, model: BUILT_IN_MODEL, fingerprint, dimensions: directory.dimensions },
    embed: (source) => Promise.resolve({ ...vectorsOf(source), fingerprint }),
  };
}
