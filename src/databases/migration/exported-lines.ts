import { wholeLines } from '../../async/whole-lines.js';

export interface ExportedLine {
  id: number;
  bytes: Uint8Array;
}

const NEWLINE = 0x0a;
/** The longest beginning of a line that has its whole id. */
const HEAD = 32;

/** Yields the lines of an export, which are in the order of their ids. */
export async function* exportedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ExportedLine> {
  for await (const chunk of wholeLines(chunks)) {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, start) + 1 || chunk.length;
      const bytes = chunk.subarray(start, end);
      const [, id] = /^\{"id":(\d+),/.exec(chunk.toString('latin1', start, start + HEAD)) ?? [];
      if (id === undefined) throw new Error('a line of an export does not begin with its id');
      yield { id: Number(id), bytes };
      start = end;
    }
  }
}
