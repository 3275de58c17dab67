import { sleep } from '../async/sleep.js';
import { unlessAborted } from '../async/until-aborted.js';
import { CosiftError, isCode, isErrorCode } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type { Reembedding } from '../schema/public-types.js';
import type { DatabasePort } from './database-port.js';
import type { CallOptions, ReembedOptions } from './options.js';

type Reembedder = Pick<DatabasePort, 'startReembedding' | 'reembedding' | 'describe' | 'cancelReembedding'>;

const POLL_MS = 200;
/** Milliseconds that an aborted call waits for its re-embedding to begin, so that it is cancelled. */
const START_MS = 2_000;

/**
 * Begins to embed a database with another model, or continues after a failure, and waits until that is done. When the
 * signal is aborted, a re-embedding that this call began is cancelled, unless `cancelOnAbort` is false.
 *
 * @throws {CosiftError} what `start` throws, and the problem that ended the re-embedding.
 */
export async function reembed(
  reembedder: Reembedder,
  model: string,
  options: ReembedOptions = {},
): Promise<Reembedding> {
  checkOptions('model', { model });
  checkOptions('reembed', options);
  const { onProgress, signal, cancelOnAbort = true } = options;
  signal?.throwIfAborted();
  const cancels = cancelOnAbort && !(await isRunning(reembedder, { signal }));
  const starting = reembedder.startReembedding(model);
  let hasBegun = false;
  try {
    let state = await unlessAborted(starting, signal);
    hasBegun = true;
    for (;;) {
      onProgress?.(state);
      if (state.state === 'done') return state;
      if (state.problem !== undefined) {
        const { code, detail } = state.problem;
        throw new CosiftError(isErrorCode(code) ? code : 'internal', detail);
      }
      await sleep(POLL_MS, signal);
      state = await readNext(reembedder, state, { signal });
    }
  } catch (error) {
    if (cancels && signal?.aborted) {
      // If the re-embedding has ended by now, or did not begin, there is nothing to cancel.
      const cancelled = starting.then(() => reembedder.cancelReembedding({})).catch(() => undefined);
      await (hasBegun ? cancelled : untilLate(cancelled));
    }
    throw error;
  }
}

/** Waits for `call`, but only a short time: a service may not respond. */
async function untilLate(call: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const late = sleep(START_MS, ended.signal).catch(() => undefined);
  await Promise.race([call, late]);
  ended.abort();
}

async function isRunning(reembedder: Reembedder, { signal }: CallOptions): Promise<boolean> {
  try {
    const { state } = await reembedder.reembedding({ signal });
    return state === 'running' || state === 'switching';
  } catch (error) {
    if (isCode(error, 'reembedding_not_found')) return false;
    throw error;
  }
}

/** Returns the state after `before`. A service that was restarted does not remember a finished re-embedding. */
async function readNext(
  reembedder: Reembedder,
  before: Reembedding,
  { signal }: CallOptions,
): Promise<Reembedding> {
  try {
    return await reembedder.reembedding({ signal });
  } catch (error) {
    if (!isCode(error, 'reembedding_not_found')) throw error;
    const { model, records } = await reembedder.describe({ signal });
    if (model !== before.model) {
      const detail = 'the re-embedding was cancelled, or ended because the service started again';
      throw new CosiftError('reembedding_not_found', detail, { cause: error });
    }
    return { ...before, state: 'done', done: records, records };
  }
}
