import { LinkedAbort } from '../async/linked-abort.js';
import { untilAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';
import type { LineEvent, LineProblem } from '../schema/index.js';
import type { BadLine, PreparedRecords } from '../store/record-store.js';
import { closedError } from './call-tracker.js';
import { type CommitOptions, commitRecords, type Destination, embedTexts } from './commit-records.js';
import type { EmbeddedTexts } from './database-embedder.js';
import { batchesOfLines, type LineBatch } from './line-batches.js';

/** Batches that are embedded while another batch is committed: enough to keep every worker busy. */
const MAX_AHEAD = 4;

/** A batch whose texts are embedded. */
interface EmbeddedBatch {
  batch: LineBatch;
  prepared: PreparedRecords;
  embedded: EmbeddedTexts;
}

/**
 * Upserts a stream of lines in committed batches; batches are embedded in parallel and committed in order. `check` is
 * called before each batch is embedded and committed; an error that it throws ends the stream. When the backend closes,
 * the lines that were read are committed.
 *
 * @throws {CosiftError} `not_ready` when the backend closes before the end of the stream.
 */
export async function* upsertLines(
  destination: Destination,
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  options: CommitOptions = {},
): AsyncGenerator<LineEvent> {
  const { closing } = destination;
  const { check } = options;
  // A failure aborts the wait for the sender and the embedding of later batches, so that it is reported at once.
  using ended = new LinkedAbort(options.signal);
  const { signal } = ended;
  const counts = { lines: 0, created: 0, changed: 0, unchanged: 0, failed: 0, truncated: 0 };
  const ahead: Promise<EmbeddedBatch>[] = [];
  const batches = batchesOfLines(untilAborted(chunks, signal), maxLineBytes);
  const embedBatch = batchEmbedder(destination, signal, check);

  try {
    const closes = new Promise<void>((resolve) => {
      closing.addEventListener('abort', () => resolve(), { once: true, signal: ended.signal });
    });
    // The promise is awaited later; until then, a failure must not count as an unhandled rejection.
    const read = () => {
      const next = batches.next();
      next.catch(() => undefined);
      return next;
    };
    let input: Promise<IteratorResult<LineBatch>> | undefined = read();
    while (input !== undefined || ahead.length > 0) {
      signal.throwIfAborted();
      if (closing.aborted && ahead.length === 0) throw closedError();
      // Waits for both, so that an embedded batch is committed even while the sender pauses.
      const mayRead = input !== undefined && ahead.length < MAX_AHEAD && !closing.aborted;
      const next = mayRead ? await firstOf({ embedded: ahead[0], input, closing: closes }) : 'embedded';
      if (next === 'closing') continue;
      if (next === 'input') {
        const result: IteratorResult<LineBatch> = await input!;
        input = result.done ? undefined : read();
        if (!result.done) {
          const embedding = embedBatch(result.value);
          embedding.catch(() => undefined);
          ahead.push(embedding);
        }
        continue;
      }
      const { batch, prepared, embedded } = await ahead.shift()!;
      const committed = await commitRecords(destination, prepared, { signal, check }, embedded);
      const problems = [...prepared.problems(), ...committed.problems].map(lineProblem);
      for (const line of batch.tooLong) problems.push(tooLong(line, maxLineBytes));
      yield* problems.sort((a, b) => a.line - b.line);
      counts.lines += batch.lines;
      counts.created += committed.created;
      counts.changed += committed.changed;
      counts.unchanged += committed.unchanged;
      counts.truncated += committed.truncated;
      counts.failed += new Set(problems.map(({ line }) => line)).size;
      yield {
        type: 'progress',
        lines: counts.lines,
        committed: counts.created + counts.changed + counts.unchanged,
        truncated: counts.truncated,
      };
    }
  } finally {
    ended.abort();
    await Promise.allSettled(ahead);
    await batches.return(undefined);
  }
  yield { type: 'summary', ...counts };
}

/** Returns a function that prepares the batches of one stream and embeds their texts. */
function batchEmbedder(
  destination: Destination,
  signal: AbortSignal,
  check: CommitOptions['check'],
): (batch: LineBatch) => Promise<EmbeddedBatch> {
  const { store, id } = destination;
  /** Identifies the database that the stream began with. */
  let epoch: string | undefined;
  return async (batch) => {
    await check?.();
    const prepared = await store.prepareLines(id, batch.bytes, batch.firstLine);
    epoch ??= prepared.epoch;
    if (prepared.epoch !== epoch) {
      throw new CosiftError('database_not_found', `database "${id}" was dropped`);
    }
    return { batch, prepared, embedded: await embedTexts(destination, prepared, signal) };
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

function tooLong(line: number, maxLineBytes: number): LineProblem {
  const detail = `the record is larger than ${maxLineBytes} bytes`;
  return { type: 'problem', line, pointer: '', code: 'too_large', detail };
}

function lineProblem({ line, problem }: BadLine): LineProblem {
  return { type: 'problem', line, ...problem };
}
