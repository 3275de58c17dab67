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

const NEWLINE = 0x0a;

/** Yields the records of NDJSON that may be cut anywhere. */
export async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportedRecord[], void, undefined> {
  let rest: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      rest.push(chunk);
      continue;
    }
    const text = Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8');
    rest = [chunk.subarray(end)];
    const lines = text.split('\n');
    lines.pop();
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
