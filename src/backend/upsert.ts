import { LinkedAbort } from '../async/linked-abort.js';
import { CosiftError } from '../errors.js';
import type { LineEvent, LineProblem } from '../schema/index.js';
import type { Embedded, Engine, NativeLineProblem, Prepared } from '../store/local/index.js';
import { closed } from './calls.js';
import { batchesOfLines, type LineBatch } from './lines.js';
import { isStale } from './reembeddings.js';
import type { WriteGate } from './write-barrier.js';

/** Vectors of texts, and how many of the texts are longer than the model takes. */
export interface EmbeddedTexts extends Embedded {
  truncated: number;
}

/** FairLimiter texts into vectors of the model that the database is known to have; none without a model. */
export type EmbedTexts = (texts: readonly string[], signal?: AbortSignal) => Promise<EmbeddedTexts>;

/** Times a commit is tried whose records others change meanwhile. */
const ATTEMPTS = 8;

/** Batches in the making beside the one that is committed: enough to keep every worker busy. */
const AHEAD = 4;

type NativeCommitted = Awaited<ReturnType<Engine['commit']>>;

/** What a commit did, and of how many of its records only the beginning of the text was embedded. */
export interface Committed {
  native: NativeCommitted;
  truncated: number;
}

/** Where the records of a call go. */
export interface Destination {
  engine: Engine;
  /** The database. */
  id: string;
  /** What the writes of the database pass now. */
  gate: () => WriteGate;
  embed: EmbedTexts;
  /** Aborted once the backend closes: a stream is then read no further. */
  closing: AbortSignal;
  /** Finds out which model the database has now. */
  refresh: () => Promise<void>;
}

/** What a commit without texts brings along. */
const NOTHING: EmbeddedTexts = { vectors: new Float32Array(), truncated: 0 };

/**
 * Embeds what needs it, unless that is `made` already, and commits. A record that another call changed in between is
 * embedded again, and so is all of it when the database has another model than the one that embedded.
 */
export async function embedAndCommit(
  destination: Destination,
  prepared: Prepared,
  { signal, check }: { signal?: AbortSignal | undefined; check?: (() => void) | undefined } = {},
  made?: EmbeddedTexts,
): Promise<Committed> {
  const { engine, id, gate, refresh } = destination;
  let embedded = made;
  for (let attempt = 1; ; attempt += 1) {
    const current = embedded ?? (await embedTexts(destination, prepared, signal));
    signal?.throwIfAborted();
    try {
      const native = await gate().pass(() => {
        check?.();
        return engine.commit(id, prepared, current);
      }, signal);
      return { native, truncated: current.truncated };
    } catch (error) {
      if (!isStale(error)) throw error;
      if (attempt === ATTEMPTS) {
        const detail = 'the records or the model keep changing; try again';
        throw new CosiftError('busy', detail, { cause: error });
      }
    }
    embedded = undefined;
    await refresh();
  }
}

async function embedTexts(
  { embed }: Destination,
  prepared: Prepared,
  signal: AbortSignal | undefined,
): Promise<EmbeddedTexts> {
  const texts = prepared.texts();
  return texts.length === 0 ? NOTHING : embed(texts, signal);
}

/**
 * Upserts a stream of lines in committed batches; batches are embedded side by side and committed in order. `check` is
 * called before each batch is embedded and committed; what it throws ends the stream. When the backend closes, the
 * lines that were read are committed.
 *
 * @throws {CosiftError} `not_ready` when the backend closes before the end of the stream.
 */
export async function* upsertLines(
  destination: Destination,
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  options: { signal?: AbortSignal; check?: () => void } = {},
): AsyncGenerator<LineEvent> {
  const { engine, id, closing } = destination;
  const { check } = options;
  // A failure ends the wait for the sender and the work ahead, so that it is told at once.
  using ended = new LinkedAbort(options.signal);
  const { signal } = ended;
  const counts = { lines: 0, created: 0, changed: 0, unchanged: 0, failed: 0, truncated: 0 };
  const ahead: Promise<Made>[] = [];
  const batches = batchesOfLines(endedBy(signal, chunks), maxLineBytes);

  /** Of the database that the stream began with. */
  let epoch: string | undefined;
  const make = async (batch: LineBatch): Promise<Made> => {
    check?.();
    const prepared = await engine.prepareLines(id, batch.bytes, batch.firstLine);
    epoch ??= prepared.epoch;
    if (prepared.epoch !== epoch) {
      throw new CosiftError('database_not_found', `database "${id}" was dropped`);
    }
    return { batch, prepared, embedded: await embedTexts(destination, prepared, signal) };
  };

  try {
    const closes = new Promise<void>((resolve) => {
      closing.addEventListener('abort', () => resolve(), { once: true, signal: ended.signal });
    });
    // Awaited in its turn; until then a failure must not count as unhandled.
    const read = () => {
      const next = batches.next();
      next.catch(() => undefined);
      return next;
    };
    let input: Promise<IteratorResult<LineBatch>> | undefined = read();
    while (input !== undefined || ahead.length > 0) {
      signal.throwIfAborted();
      // Whichever comes first: what is made is committed even while the sender pauses.
      if (closing.aborted && ahead.length === 0) throw closed();
      const room = input !== undefined && ahead.length < AHEAD && !closing.aborted;
      const next = room ? await firstOf({ made: ahead[0], input, closing: closes }) : 'made';
      if (next === 'closing') continue;
      if (next === 'input') {
        const taken: IteratorResult<LineBatch> = await input!;
        input = taken.done ? undefined : read();
        if (!taken.done) {
          const coming = make(taken.value);
          coming.catch(() => undefined);
          ahead.push(coming);
        }
        continue;
      }
      const { batch, prepared, embedded } = await ahead.shift()!;
      const { native: committed, truncated } = await embedAndCommit(
        destination,
        prepared,
        { signal, check },
        embedded,
      );
      const bad = [...prepared.problems(), ...committed.problems].map(lineProblem);
      for (const line of batch.tooLong) bad.push(tooLong(line, maxLineBytes));
      yield* bad.sort((a, b) => a.line - b.line);
      counts.lines += batch.lines;
      counts.created += committed.created;
      counts.changed += committed.changed;
      counts.unchanged += committed.unchanged;
      counts.truncated += truncated;
      counts.failed += new Set(bad.map(({ line }) => line)).size;
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

/** `chunks`, until `signal` is aborted: the chunk that is waited for is then given up. */
async function* endedBy<T>(signal: AbortSignal, chunks: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = chunks[Symbol.asyncIterator]();
  const next = () =>
    new Promise<IteratorResult<T>>((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      iterator
        .next()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', abort));
    });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await next();
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: a generator ends only once the chunk that it waits for has come.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** A batch whose texts are embedded. */
interface Made {
  batch: LineBatch;
  prepared: Prepared;
  embedded: EmbeddedTexts;
}

/** The name of the promise that settles first. */
async function firstOf<Name extends string>(
  racers: Record<Name, Promise<unknown> | undefined>,
): Promise<Name> {
  const settled = (Object.entries(racers) as [Name, Promise<unknown> | undefined][]).flatMap(
    ([name, racer]) => {
      const tell = () => name;
      return racer === undefined ? [] : [racer.then(tell, tell)];
    },
  );
  return Promise.race(settled);
}

function tooLong(line: number, maxLineBytes: number): LineProblem {
  const detail = `the record is larger than ${maxLineBytes} bytes`;
  return { type: 'problem', line, pointer: '', code: 'too_large', detail };
}

function lineProblem({ line, problem }: NativeLineProblem): LineProblem {
  return { type: 'problem', line, ...problem } as LineProblem;
}
