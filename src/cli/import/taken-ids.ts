import type { Database, NewRecord } from '../../api/index.js';
import type { BadRows } from './bad-rows.js';
import type { Input } from './input.js';

/** Maximum rows and bytes of a batch whose ids are requested. */
const BATCH_ROWS = 256;
const BATCH_BYTES = 1 << 20;

/**
 * Reports each row whose id an earlier import gave to another row, which has no id in the file. Both rows are written to
 * the same record, and the row without an id is written last.
 */
export async function reportTakenIds(input: Input, database: Database, badRows: BadRows): Promise<void> {
  const reasons = new Map<number, string>();
  let batch: { record: NewRecord; line: number }[] = [];
  let bytes = 0;
  const check = async () => {
    // These records were just stored, so the upsert changes nothing. Its response has their ids.
    const { results } = await database.upsert(batch.map(({ record }) => record));
    for (const [at, { id }] of results.entries()) {
      const line = input.lineOfId(id);
      if (line === 0) continue;
      reasons.set(
        line,
        `the record of line ${batch[at]?.line}, which has no id, got the id ${id} when it was imported before; ` +
          'only that line is stored: give it its id, or this one another',
      );
    }
    batch = [];
    bytes = 0;
  };
  for await (const rows of input.withoutId()) {
    for (const { json, line } of rows) {
      if (badRows.has(line)) continue;
      if (batch.length === BATCH_ROWS || (batch.length > 0 && bytes + json.length > BATCH_BYTES))
        await check();
      batch.push({ record: JSON.parse(Buffer.from(json).toString()), line });
      bytes += json.length;
    }
  }
  if (batch.length > 0) await check();
  if (reasons.size === 0) return;
  for await (const row of input.rowsAt(new Set(reasons.keys()))) {
    badRows.add(row, reasons.get(row.line) ?? '');
  }
}
