import { wholeLines } from '../../async/whole-lines.js';
import type { Data } from '../../schema/index.js';
import { type OrderedObject, parseOrdered } from '../ordered-json.js';

interface ExportLine {
  id: number;
  uuid: string;
  key?: string;
  data: Data;
  vector?: number[];
  embedded_by?: string;
}

export interface ExportedRecord extends ExportLine {
  /** The names of the columns, in the order of the record. */
  names: readonly string[];
}

/** Yields the records of NDJSON that may be cut anywhere. */
export async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportedRecord[], void, undefined> {
  for await (const chunk of wholeLines(chunks)) {
    const lines = chunk.toString('utf8').split('\n').slice(0, -1);
    // Numbers are as JavaScript writes them, so parsing them loses nothing.
    yield lines.map((line) => {
      const record: ExportLine = JSON.parse(line);
      return { ...record, names: namesOf(line, record) };
    });
  }
}

/** An object has names that are integers before all others, whatever their order in the text is. */
function namesOf(line: string, { data }: ExportLine): string[] {
  const names = Object.keys(data);
  const hasIntegers = /^\d+$/.test(names[0] ?? '');
  return hasIntegers ? [...(parseOrdered(line).get('data') as OrderedObject).keys()] : names;
}
