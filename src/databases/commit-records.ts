import { CosiftError } from '../errors.js';
import type { EmbeddedVectors } from '../store/embedded-vectors.js';
import type { CommitResult, LineRules, PreparedRecords, RecordStore } from '../store/record-store.js';
import { StaleError } from '../store/store-errors.js';
import type { EmbedTexts } from './database-embedder.js';
import type { WriteBarrier, WriteOptions } from './write-barrier.js';

/** The database that the records of a call are written to. */
export interface Destination {
  store: Pick<RecordStore, 'prepareLines' | 'commit'>;
  id: string;
  /** The rules of lines. */
  rules?: LineRules | undefined;
  /** Returns the current write barrier of the database; a database that is created again has another one. */
  barrier: () => WriteBarrier;
  embed: EmbedTexts;
  /** Aborted once a close begins: a stream is then read no further. */
  closing: AbortSignal;
  /** Reads the model of the database from the store. */
  refresh: () => Promise<unknown>;
}

export interface CommitOptions extends WriteOptions {
  /** Called right before the commit. An error that `check` throws ends the call. */
  check?: (() => void | Promise<void>) | undefined;
}

/** Maximum number of attempts when other calls change the records or the model at the same time. */
const MAX_ATTEMPTS = 8;

/** The vectors of records that need none. */
const NO_TEXTS: EmbeddedVectors = { vectors: new Float32Array() };

/**
 * Commits prepared records. Embeds their texts first, unless `embedded` holds the vectors already.
 *
 * When the store refuses the vectors as stale, the texts are embedded again and the commit is repeated.
 *
 * @throws {CosiftError} `busy` after {@link MAX_ATTEMPTS} stale commits.
 */
export async function commitRecords(
  destination: Destination,
  prepared: PreparedRecords,
  { signal, onWait, check }: CommitOptions = {},
  embedded?: EmbeddedVectors,
): Promise<CommitResult> {
  const { store, id, barrier, refresh } = destination;
  let given = embedded;
  for (let attempt = 1; ; attempt += 1) {
    const current = given ?? (await embedTexts(destination, prepared, signal));
    signal?.throwIfAborted();
    try {
      const write = async () => {
        await check?.();
        return await store.commit(id, prepared, current, signal);
      };
      return await barrier().run(write, { signal, onWait });
    } catch (error) {
      if (!(error instanceof StaleError)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        const detail = 'the records or the model keep changing; try again';
        throw new CosiftError('busy', detail, { cause: error });
      }
    }
    given = undefined;
    await refresh();
  }
}

/** Embeds the texts that still need a vector. */
export async function embedTexts(
  { embed }: Destination,
  prepared: PreparedRecords,
  signal: AbortSignal | undefined,
): Promise<EmbeddedVectors> {
  return prepared.texts().length === 0 ? NO_TEXTS : embed(prepared, signal);
}
