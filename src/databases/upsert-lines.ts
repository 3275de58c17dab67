import type { LineEvent, LineProblem } from '../schema/index.js';
import type { BadLine, CommitResult } from '../store/record-store.js';
import { type CommitOptions, commitRecords, type Destination } from './commit-records.js';
import { embeddedBatches } from './embedded-batches.js';

/**
 * Upserts a stream of lines in committed batches; batches are embedded in parallel and committed in order. `check` is
 * called before each batch is embedded and committed; an error that it throws ends the stream. When a close begins,
 * the lines that were read are committed.
 *
 * @throws {CosiftError} `not_ready` when a close begins before the end of the stream.
 */
export async function* upsertLines(
  destination: Destination,
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  options: CommitOptions = {},
): AsyncGenerator<LineEvent> {
  const counts = { lines: 0, created: 0, changed: 0, unchanged: 0, failed: 0 };
  let startedAt: number | undefined;
  const batches = embeddedBatches(destination, chunks, maxLineBytes, options);
  for await (const { batch, prepared, embedded } of batches) {
    const committed = await commitRecords(destination, prepared, options, embedded);
    startedAt ??= committed.at;
    const problems = [...prepared.problems(), ...committed.problems].map(lineProblem);
    for (const line of batch.tooLong) problems.push(tooLong(line, maxLineBytes));
    yield* problems.sort((a, b) => a.line - b.line);
    counts.lines += batch.lines;
    counts.created += committed.created;
    counts.changed += committed.changed;
    counts.unchanged += committed.unchanged;
    counts.failed += new Set(problems.map(({ line }) => line)).size;
    yield {
      type: 'progress',
      lines: counts.lines,
      committed: counts.created + counts.changed + counts.unchanged,
    };
  }
  startedAt ??= (await commitNothing(destination, options)).at;
  yield { type: 'summary', ...counts, started_at: new Date(startedAt).toISOString() };
}

/** Commits no record, for the time of the store. */
async function commitNothing(destination: Destination, options: CommitOptions): Promise<CommitResult> {
  const prepared = await destination.store.prepareLines(destination.id, new Uint8Array(), 1);
  return commitRecords(destination, prepared, options);
}

function tooLong(line: number, maxLineBytes: number): LineProblem {
  const detail = `the record is larger than ${maxLineBytes} bytes`;
  return { type: 'problem', line, pointer: '', code: 'too_large', detail };
}

function lineProblem({ line, problem }: BadLine): LineProblem {
  return { type: 'problem', line, ...problem };
}
