import { CosiftError, isErrorCode } from './errors.js';
import type { DatabaseDescription, Reembedding } from './schema/index.js';

/** How a database is embedded with another model, wherever it is. */
export interface Reembedder {
  start(model: string): Promise<Reembedding>;
  read(): Promise<Reembedding>;
  describe(): Promise<DatabaseDescription>;
  cancel(): Promise<void>;
}

export interface ReembedOptions {
  /** Called with how it stands, a few times a second. */
  onProgress?: (state: Reembedding) => void;
  /** Ends the wait with the signal's reason. */
  signal?: AbortSignal;
}

const PAUSE_MS = 200;

/**
 * Begins to embed a database with another model, or goes on, and waits until it is done.
 *
 * @throws {CosiftError} as the start does, and what made it fail.
 */
export async function reembed(
  database: Reembedder,
  model: string,
  { onProgress, signal }: ReembedOptions = {},
): Promise<Reembedding> {
  signal?.throwIfAborted();
  let state = await database.start(model);
  for (;;) {
    onProgress?.(state);
    if (state.state === 'done') return state;
    if (state.problem !== undefined) {
      const { code, detail } = state.problem;
      throw new CosiftError(isErrorCode(code) ? code : 'internal', detail);
    }
    await pause(signal);
    signal?.throwIfAborted();
    state = await readOn(database, state);
  }
}

/**
 * As {@link reembed}; when the signal ends the wait, what was made of it is removed. A job that was under way before
 * this call goes on: it is another caller's.
 */
export async function reembedOrCancel(
  database: Reembedder,
  model: string,
  options: ReembedOptions = {},
): Promise<Reembedding> {
  options.signal?.throwIfAborted();
  let begun = false;
  const start = async (model: string) => {
    const joins = await isUnderWay(database);
    const state = await database.start(model);
    begun = !joins;
    return state;
  };
  try {
    return await reembed({ ...database, start }, model, options);
  } catch (error) {
    // It may have ended meanwhile: then there is nothing to cancel.
    if (begun && options.signal?.aborted) await database.cancel().catch(() => undefined);
    throw error;
  }
}

async function isUnderWay(database: Reembedder): Promise<boolean> {
  try {
    const { state } = await database.read();
    return state === 'running' || state === 'switching';
  } catch (error) {
    if (error instanceof CosiftError && error.code === 'reembedding_not_found') return false;
    throw error;
  }
}

/** How it stands now. A service that was restarted remembers none that is done. */
async function readOn(database: Reembedder, before: Reembedding): Promise<Reembedding> {
  try {
    return await database.read();
  } catch (error) {
    if (!(error instanceof CosiftError) || error.code !== 'reembedding_not_found') throw error;
    const { model, records } = await database.describe();
    if (model !== before.model) throw error;
    return { ...before, state: 'done', done: records, records };
  }
}

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, PAUSE_MS);
    signal?.addEventListener('abort', end, { once: true });
  });
}
