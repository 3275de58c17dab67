import { CosiftError, isCode, type Problem } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type { LineEvent, LineSummary, NewRecord } from '../schema/public-types.js';
import type { DatabasePort } from './database-port.js';
import type { MaxDeletes, UpsertLinesOptions, UpsertOptions } from './options.js';
import { RecordBatch } from './record-batch.js';
import { checkIterable, withShiftedPointers } from './upsert-in-batches.js';

/** Problems that an error names. */
const MAX_PROBLEMS = 100;

/**
 * Writes records, and deletes the others. An array is read when this is called, as its records are until the first commit.
 *
 * @throws {CosiftError} as `Database.replaceAll` says.
 */
export async function replaceAll(
  port: DatabasePort,
  records: Iterable<NewRecord> | AsyncIterable<NewRecord>,
  options: (UpsertOptions & MaxDeletes) | undefined,
): Promise<Pick<LineSummary, 'created' | 'changed' | 'unchanged'> & { deleted: number }> {
  const { onProgress, ...call } = replaceOptions(options);
  checkIterable(records);
  const problems: Problem[] = [];
  try {
    const lines = linesOf(Array.isArray(records) ? records.slice() : records);
    for await (const event of namingMaxDeletes(port.replaceLines(lines, call))) {
      if (event.type === 'progress') onProgress?.({ committed: event.committed });
      if (event.type === 'summary') {
        const { created, changed, unchanged, deleted = 0 } = event;
        return { created, changed, unchanged, deleted };
      }
      if (event.type !== 'problem' || problems.length === MAX_PROBLEMS) continue;
      const { type, line, pointer, ...problem } = event;
      problems.push({ ...problem, pointer: `/records/${line - 1}${pointer}` });
    }
  } catch (error) {
    const [first] = problems;
    if (!isCode(error, 'deletion_refused') || first === undefined) throw error;
    const detail = `${error.detail}; ${first.pointer}: ${first.detail}`;
    throw new CosiftError(error.code, detail, { problems, fields: error.fields, cause: error.cause });
  }
  throw new CosiftError('internal', 'the replacement ended without a summary');
}

export function replaceOptions<Options extends (UpsertOptions | UpsertLinesOptions) & MaxDeletes>(
  options: Options = {} as Options,
): Options {
  checkOptions('replace', options);
  const { signal, onProgress, maxDeletes } = options;
  signal?.throwIfAborted();
  return { signal, onProgress, maxDeletes } as Options;
}

/** Yields the events. Their error names the option as the library does. */
export async function* namingMaxDeletes(events: AsyncIterable<LineEvent>): AsyncGenerator<LineEvent> {
  try {
    yield* events;
  } catch (error) {
    if (!isCode(error, 'deletion_refused')) throw error;
    const detail = error.detail.replace('max_deletes', 'maxDeletes');
    throw new CosiftError(error.code, detail, { fields: error.fields, cause: error.cause });
  }
}

/** Yields each record as a line, in chunks of as many records as a batch has. */
async function* linesOf(
  records: Iterable<NewRecord> | AsyncIterable<NewRecord>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  const newBatch = () => new RecordBatch({ vectorsApart: false });
  let before = 0;
  let batch = newBatch();
  const chunk = () => {
    try {
      return encoder.encode(
        batch
          .encoded()
          .texts.map((text) => `${text}\n`)
          .join(''),
      );
    } catch (error) {
      throw error instanceof CosiftError ? withShiftedPointers(error, before, {}) : error;
    }
  };
  for await (const record of records) {
    batch.add(record);
    if (!batch.isFull) continue;
    yield chunk();
    before += batch.length;
    batch = newBatch();
  }
  if (batch.length > 0) yield chunk();
}
