import { CosiftError, isCode } from '../errors.js';
import type { LineEvent, LineSummary } from '../schema/index.js';
import type { StoreDeleteRequest, WriteMark } from '../store/record-store.js';

/** So many records may be deleted from every database, however few it has. */
const ALWAYS_ALLOWED = 10;

export interface Replacement {
  /** Returns the moment from which on a record that is written stays. */
  mark(): Promise<WriteMark>;
  upsert(): AsyncIterable<LineEvent>;
  /** Deletes records and returns their number. @throws {CosiftError} `deletion_refused` */
  remove(deletion: StoreDeleteRequest): Promise<number>;
  maxDeletes: number | undefined;
}

/**
 * Yields the events of an upsert, then deletes the records that no commit has written since its start. The number of
 * these records only falls once the upsert is complete, so that a repeated run deletes no more than this one.
 *
 * @throws {CosiftError} `deletion_refused`
 */
export async function* replaceRecords({
  mark,
  upsert,
  remove,
  maxDeletes,
}: Replacement): AsyncGenerator<LineEvent> {
  const { epoch, version, records } = await mark();
  for await (const event of upsert()) {
    if (event.type !== 'summary') {
      yield event;
      continue;
    }
    const max = event.failed > 0 ? 0 : (maxDeletes ?? defaultMax(event, records));
    const deleted = await remove({ unwritten: { version }, epoch, max }).catch((error) => {
      throw isCode(error, 'deletion_refused') ? refusal(event, records, error) : error;
    });
    if (event.failed > 0) throw refusal(event, records);
    yield { ...event, deleted };
  }
}

function defaultMax({ created, changed, unchanged }: LineSummary, records: number): number {
  // A source without records is more likely one that failed than one that is empty.
  if (created + changed + unchanged === 0) return 0;
  return Math.max(ALWAYS_ALLOWED, Math.floor(records / 10));
}

/** `cause` is the refusal of the store; absent if there was nothing to delete. */
function refusal({ failed, lines }: LineSummary, records: number, cause?: CosiftError): CosiftError {
  const { missing = 0, max = 0 } = cause?.fields ?? {};
  const of = `${missing} of ${plural(records, 'record')}`;
  const why =
    failed > 0
      ? `${failed} of ${plural(lines, 'line')} ${failed === 1 ? 'has' : 'have'} problems; the others lack ${of}`
      : `the source lacks ${of}, and at most ${max} may be deleted; ` + `max_deletes ${missing} allows it`;
  const fields = failed > 0 ? { missing } : { missing, max };
  return new CosiftError('deletion_refused', `nothing was deleted: ${why}`, { fields, cause });
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
