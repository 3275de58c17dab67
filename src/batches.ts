import { CosiftError } from './errors.js';
import type { BatchResult } from './schema/index.js';

/** The start of a pointer to a record of a batch. */
const RECORD = /^\/records\/(\d+)/;

/**
 * Upserts records in batches of `size`, one after the other, and adds up what each did.
 *
 * @throws {CosiftError} `invalid_request` for records that cannot be gone through; otherwise as `send` does. Its pointers count from the first of all `records`, and `fields.committed` is
 * the number of records that were committed before the failed batch.
 */
export async function upsertInBatches<T>(
  records: Iterable<T> | AsyncIterable<T>,
  size: number,
  send: (batch: readonly T[]) => Promise<BatchResult>,
): Promise<BatchResult> {
  const source: unknown = records;
  if (typeof source !== 'object' || source === null || !isIterable(source)) {
    const is = source === null ? 'null' : typeof source;
    const detail = `is ${is}, must be an array or another iterable of records`;
    throw new CosiftError('invalid_request', `records: ${detail}`, {
      problems: [{ pointer: '/records', detail, code: 'wrong_type' }],
    });
  }
  const sum: BatchResult = { results: [], created: 0, changed: 0, unchanged: 0, truncated: 0 };
  let batch: T[] = [];
  const commit = async () => {
    const { results, created, changed, unchanged, truncated } = await send(batch);
    for (const record of results) sum.results.push(record);
    sum.created += created;
    sum.changed += changed;
    sum.unchanged += unchanged;
    sum.truncated += truncated;
    batch = [];
  };
  try {
    for await (const record of records) {
      batch.push(record);
      if (batch.length === size) await commit();
    }
    if (batch.length > 0) await commit();
  } catch (error) {
    throw error instanceof CosiftError ? placed(error, sum.results.length) : error;
  }
  return sum;
}

function isIterable(value: object): boolean {
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** The failure of a batch, as one of a call whose batches before had `committed` records. */
function placed(error: CosiftError, committed: number): CosiftError {
  const move = (text: string) => text.replace(RECORD, (_, at) => `/records/${Number(at) + committed}`);
  return new CosiftError(error.code, move(error.detail), {
    problems: error.problems.map((problem) => ({ ...problem, pointer: move(problem.pointer) })),
    fields: { ...error.fields, committed },
    cause: error,
  });
}
