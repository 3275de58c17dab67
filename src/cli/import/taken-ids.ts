import type { Database, NewRecord } from '../../api/index.js';
import type { Input } from '../../readers/input.js';
import { nameOfPosition, type RowPosition } from '../../readers/rows.js';
import type { BadRows } from './bad-rows.js';

/** Maximum rows and bytes of a batch whose ids are requested. */
const BATCH_ROWS = 256;
const BATCH_BYTES = 1 << 20;

/**
 * Reports each row whose id an earlier import gave to another row, which has no id in the file. Both rows are written to
 * the same record, and the row without an id is written last.
 */
export async function reportTakenIds(input: Input, database: Database, badRows: BadRows): Promise<void> {
  const reasons = new Map<number, string>();
  let batch: { record: NewRecord; position: RowPosition }[] = [];
  let bytes = 0;
  const check = async () => {
    // These records were just stored, so the upsert changes nothing. Its response has their ids.
    const { results } = await database.upsert(batch.map(({ record }) => record));
    for (const [at, { id }] of results.entries()) {
      const position = batch[at]?.position;
      if (position === undefined || !input.hasRowWithId(id)) continue;
      reasons.set(
        id,
        `the record of ${nameOfPosition(position, input.format.unit)}, which has no id, got the id ${id} when it was imported before; ` +
          'only that record is stored: give it its id, or this one another',
      );
    }
    batch = [];
    bytes = 0;
  };
  for await (const rows of input.withoutId()) {
    for (const { json, raw: _, ...position } of rows) {
      if (badRows.has(position)) continue;
      if (batch.length === BATCH_ROWS || (batch.length > 0 && bytes + json.length > BATCH_BYTES))
        await check();
      // Its condition was on the record before.
      const { if_changed_at: _, ...record } = JSON.parse(Buffer.from(json).toString());
      batch.push({ record, position });
      bytes += json.length;
    }
  }
  if (batch.length > 0) await check();
  if (reasons.size === 0) return;
  for await (const { id, row } of input.rowsWithIds(new Set(reasons.keys()))) {
    badRows.add(row, reasons.get(id) ?? '');
  }
}
