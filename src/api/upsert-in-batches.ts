import { untilAborted } from '../async/until-aborted.js';
import { CosiftError, type ErrorFields } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type { BatchResult, NewRecord } from '../schema/public-types.js';
import type { UpsertLinesOptions, UpsertOptions } from './options.js';
import { type EncodedRecords, RecordBatch, type RecordEncoding } from './record-batch.js';

/** The start of a pointer to a record of a batch. */
const RECORD = /^\/records\/(\d+)/;

/**
 * Upserts records in batches, one after the other, and adds up the results of `send`. The first batch of a synchronous
 * source is read before this returns, and each record is encoded when it is read. An array may be changed from then on,
 * and a record that was read.
 *
 * @throws {CosiftError} `invalid_request` for wrong options and for records that are not iterable; `invalid_record` for a
 * value that JSON cannot represent; the signal's reason as soon as it is aborted, even while an asynchronous source has
 * no next record; otherwise what `send` throws. Pointers count from the first of all `records`, and
 * `fields.committed` is the number of records that were committed before the failed batch.
 */
export async function upsertInBatches(
  records: Iterable<NewRecord> | AsyncIterable<NewRecord>,
  options: UpsertOptions | undefined,
  encoding: RecordEncoding,
  send: (batch: EncodedRecords, signal: AbortSignal | undefined) => Promise<BatchResult>,
): Promise<BatchResult> {
  const { signal, onProgress } = upsertOptions(options);
  checkIterable(records);
  const sum = { results: [] as BatchResult['results'], created: 0, changed: 0, unchanged: 0 };
  let startedAt: string | undefined;
  let batch = new RecordBatch(encoding);
  const commit = async () => {
    signal?.throwIfAborted();
    const { results, created, changed, unchanged, started_at } = await send(batch.encoded(), signal);
    startedAt ??= started_at;
    for (const record of results) sum.results.push(record);
    sum.created += created;
    sum.changed += changed;
    sum.unchanged += unchanged;
    batch = new RecordBatch(encoding);
    onProgress?.({ committed: sum.results.length });
  };
  try {
    if (Symbol.asyncIterator in records) {
      for await (const record of signal === undefined ? records : untilAborted(records, signal)) {
        batch.add(record);
        if (batch.isFull) await commit();
      }
    } else {
      for (const record of Array.isArray(records) ? records.slice() : records) {
        batch.add(record);
        if (batch.isFull) await commit();
      }
    }
    // Without records, an empty batch gets the time of the store.
    if (batch.length > 0 || startedAt === undefined) await commit();
  } catch (error) {
    if (!(error instanceof CosiftError)) throw error;
    const committed = sum.results.length;
    throw withShiftedPointers(error, committed, { committed });
  }
  return { ...sum, started_at: startedAt as string };
}

/** Returns the options as they are now. Throws the reason of a signal that is aborted. */
export function upsertOptions<Options extends UpsertOptions | UpsertLinesOptions>(
  options: Options = {} as Options,
): Options {
  checkOptions('upsert', options);
  const { signal, onProgress } = options;
  signal?.throwIfAborted();
  return { signal, onProgress } as Options;
}

export function checkIterable(records: unknown): void {
  if (typeof records === 'object' && records !== null) {
    if (Symbol.iterator in records || Symbol.asyncIterator in records) return;
  }
  const detail = `is ${records === null ? 'null' : typeof records}, must be an array or another iterable of records`;
  throw new CosiftError('invalid_request', `records: ${detail}`, {
    problems: [{ pointer: '/records', detail, code: 'wrong_type' }],
  });
}

/** Returns the error of a batch with pointers that count from the first record of the call, and with further fields. */
export function withShiftedPointers(error: CosiftError, before: number, fields: ErrorFields): CosiftError {
  const shift = (text: string) => text.replace(RECORD, (_, at) => `/records/${Number(at) + before}`);
  return new CosiftError(error.code, shift(error.detail), {
    problems: error.problems.map((problem) => ({ ...problem, pointer: shift(problem.pointer) })),
    fields: { ...error.fields, ...fields },
    cause: error,
  });
}
