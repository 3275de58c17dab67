import { parseJson } from '../../schema/index.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import type { ReembeddingSettings, ReembeddingStore, StoredReembedding } from '../reembedding-store.js';
import type { NativeEngine, ReembeddingBatch } from './binding.js';
import { unwrap } from './unwrap.js';

/** The re-embeddings of the embedded engine. */
export class LocalReembedder implements ReembeddingStore {
  readonly leases = undefined;
  readonly #native: NativeEngine;

  constructor(engine: NativeEngine) {
    this.#native = engine;
  }

  async begin(id: string, settings: ReembeddingSettings): Promise<StoredReembedding> {
    const begun = unwrap(await this.#native.beginReembedding(id, JSON.stringify(settings)));
    return storedOf(parseJson<NativeReembedding>(begun));
  }

  async find(id: string): Promise<StoredReembedding | null> {
    const found = parseJson<NativeReembedding | null>(unwrap(await this.#native.reembedding(id)));
    return found && storedOf(found);
  }

  async prepare(id: string): Promise<ReembeddingBatch> {
    return unwrap(await this.#native.prepareReembedding(id));
  }

  async commit(
    id: string,
    batch: ReembeddingBatch,
    { vectors, splits = new Uint32Array(), fingerprint }: EmbeddedVectors & { fingerprint: string },
  ): Promise<number> {
    return unwrap(await this.#native.commitReembedding(id, batch, vectors, splits, fingerprint));
  }

  async warm(id: string): Promise<void> {
    unwrap(await this.#native.warmReembedding(id));
  }

  async holdWriters(): Promise<() => Promise<void>> {
    return async () => undefined;
  }

  async switch(id: string): Promise<void> {
    unwrap(await this.#native.switchReembedding(id));
  }

  async cancel(id: string): Promise<void> {
    unwrap(await this.#native.cancelReembedding(id));
  }
}

/** A re-embedding in the JSON of the binding. */
type NativeReembedding = Omit<StoredReembedding, 'startedAt'> & { started_at: string };

function storedOf({ started_at, ...rest }: NativeReembedding): StoredReembedding {
  return { ...rest, startedAt: started_at };
}
