import { batchesOfLines, type LineBatch } from '../async/line-batches.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { untilAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';
import type { EmbeddedVectors } from '../store/embedded-vectors.js';
import type { PreparedRecords } from '../store/record-store.js';
import { type CommitOptions, type Destination, embedTexts } from './commit-records.js';

/** Batches that are embedded while another batch is committed: enough to keep every worker busy. */
const MAX_AHEAD = 4;

export interface EmbeddedBatch {
  batch: LineBatch;
  prepared: PreparedRecords;
  embedded: EmbeddedVectors;
}

/**
 * Cuts a stream of lines into batches and embeds their texts, several batches in parallel. Yields the batches in order.
 * `check` is called before each batch is embedded; an error that it throws ends the stream. When a close begins, the
 * lines that were read are yielded.
 *
 * @throws {CosiftError} `not_ready` when a close begins before the end of the stream.
 */
export async function* embeddedBatches(
  destination: Destination,
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  options: CommitOptions,
): AsyncGenerator<EmbeddedBatch, void, undefined> {
  const { closing } = destination;
  // The end of this generator aborts the wait for the sender and the embedding of later batches, so that a failure is
  // reported at once.
  using ended = new LinkedAbort(options.signal);
  const { signal } = ended;
  const ahead: Promise<EmbeddedBatch>[] = [];
  const batches = batchesOfLines(untilAborted(chunks, signal), maxLineBytes);
  const embedBatch = batchEmbedder(destination, signal, options);
  const closes = new Promise<void>((resolve) => {
    closing.addEventListener('abort', () => resolve(), { once: true, signal });
  });
  try {
    let input: Promise<IteratorResult<LineBatch>> | undefined = awaitedLater(batches.next());
    while (input !== undefined || ahead.length > 0) {
      signal.throwIfAborted();
      if (ahead.length === 0) closing.throwIfAborted();
      // Waits for both, so that an embedded batch is committed even while the sender pauses.
      const mayRead = input !== undefined && ahead.length < MAX_AHEAD && !closing.aborted;
      const next = mayRead ? await firstOf({ embedded: ahead[0], input, closing: closes }) : 'embedded';
      if (next === 'closing') continue;
      if (next === 'embedded') {
        yield await ahead.shift()!;
        continue;
      }
      const result: IteratorResult<LineBatch> = await input!;
      input = result.done ? undefined : awaitedLater(batches.next());
      if (!result.done) ahead.push(awaitedLater(embedBatch(result.value)));
    }
  } finally {
    ended.abort();
    await Promise.allSettled(ahead);
    await batches.return(undefined);
  }
}

/** Returns a function that prepares the batches of one stream and embeds their texts. */
function batchEmbedder(
  destination: Destination,
  signal: AbortSignal,
  { check }: CommitOptions,
): (batch: LineBatch) => Promise<EmbeddedBatch> {
  const { store, id, rules } = destination;
  /** Identifies the database that the stream began with. */
  let epoch: string | undefined;
  return async (batch) => {
    await check?.();
    const prepared = await store.prepareLines(id, batch.bytes, batch.firstLine, rules);
    epoch ??= prepared.epoch;
    if (prepared.epoch !== epoch) {
      throw new CosiftError('database_not_found', `database "${id}" was dropped`);
    }
    const embedded = await embedTexts(destination, prepared, signal);
    return { batch, prepared, embedded };
  };
}

/** Returns the name of the promise that settles first. */
async function firstOf<Name extends string>(
  promises: Record<Name, Promise<unknown> | undefined>,
): Promise<Name> {
  const names = (Object.entries(promises) as [Name, Promise<unknown> | undefined][]).flatMap(
    ([name, promise]) => {
      const toName = () => name;
      return promise === undefined ? [] : [promise.then(toName, toName)];
    },
  );
  return Promise.race(names);
}

/** Returns the promise. Until it is awaited, its failure does not count as an unhandled rejection. */
function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
