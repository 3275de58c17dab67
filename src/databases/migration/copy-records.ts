import { createHash } from 'node:crypto';
import type { RecordStore } from '../../store/record-store.js';
import { type ExportedLine, exportedLines } from './exported-lines.js';
import { LineWriter } from './line-writer.js';
import { WrittenLines } from './written-lines.js';

/** Where records are copied from. */
export type RecordSource = Pick<RecordStore, 'describeDatabase' | 'exportLines'>;

/** What a pass over two databases found. */
export interface CopyResult {
  records: number;
  /** Records that were different in the target, or were there alone. */
  written: number;
  /** The records that were written. Once the target has them, it equals the source of the pass. */
  changed: WrittenLines;
  /** SHA-256 over all lines of the source: identities, data, times and exact vectors. */
  checksum: string;
}

export interface CopyCall {
  signal?: AbortSignal | undefined;
  /** Called with the number of records of the source that are compared. */
  onProgress?: ((done: number) => void) | undefined;
}

/**
 * Makes a database of `target` equal to that of `source`: each record with its identities, the order of its columns, its
 * times and its exact vectors. Both are read in the order of the ids, and what is equal is not written. So a pass that
 * writes nothing proves that both are equal, and a pass after an interrupted one continues it.
 */
export async function copyRecords(
  source: RecordSource,
  target: RecordStore,
  database: string,
  { signal, onProgress }: CopyCall,
): Promise<CopyResult> {
  const hash = createHash('sha256');
  const request = { vectors: true };
  const from = exportedLines(source.exportLines(database, request, signal));
  const to = exportedLines(target.exportLines(database, request, signal));
  const nextOf = async (lines: typeof from) => (await lines.next()).value as ExportedLine | undefined;
  const writer = new LineWriter(target, database);
  const changed = new WrittenLines(database);
  let [records, written] = [0, 0];
  try {
    const next = [await nextOf(from), await nextOf(to)];
    for (;;) {
      const [wanted, found] = next;
      if (wanted === undefined && found === undefined) break;
      const isWanted = wanted !== undefined && (found === undefined || wanted.id <= found.id);
      const isFound = found !== undefined && (wanted === undefined || found.id <= wanted.id);
      const isEqual = isWanted && isFound && Buffer.compare(wanted.bytes, found.bytes) === 0;
      if (!isEqual) {
        written += 1;
        // A record that is replaced is created again, because its creation time is that of the source.
        if (isFound) {
          await writer.delete(found.id);
          changed.add(found.id, undefined);
        }
        if (isWanted) {
          await writer.put(wanted);
          changed.add(wanted.id, wanted.bytes);
        }
      }
      if (isWanted) {
        hash.update(wanted.bytes);
        records += 1;
        onProgress?.(records);
        next[0] = await nextOf(from);
      }
      if (isFound) next[1] = await nextOf(to);
    }
    await writer.finish();
  } finally {
    await Promise.all([from.return(undefined), to.return(undefined)]);
  }
  return { records, written, changed, checksum: hash.digest('hex') };
}
