import { batchesOfLines } from '../backend/index.js';
import { LIMITS } from '../schema/index.js';
import { withoutBom } from './encoding.js';
import { BadRow, canonical, type Identities, uuidOfKey } from './identities.js';
import type { Bad, ColumnOptions, Part, Row } from './rows.js';

const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);

/** What is looked at of a line. */
interface Line {
  id?: unknown;
  uuid?: unknown;
  data?: unknown;
}

/**
 * The lines of NDJSON that belong to a part, each with an identity. Their bytes stay as they are, but for an identity
 * that is added. A line that is no record is sent with the first part: the service says what is wrong with it.
 *
 * Without a `part`, as for a pipe, which cannot be read twice, the first record decides: the others must have an id
 * where it has one.
 */
export async function* linesOfNdjson(
  chunks: AsyncIterable<Uint8Array>,
  part: Part | undefined,
  { keyColumn }: ColumnOptions,
  identities: Identities,
  onBad: Bad,
): AsyncGenerator<Row> {
  let first: Part | undefined;
  for await (const { bytes, line } of numbered(chunks, part === 'without-id' ? () => undefined : onBad)) {
    const record = parse(bytes);
    if (record === undefined) {
      if (part !== 'without-id') yield { json: Buffer.concat([bytes, LINE_END]), line };
      continue;
    }
    const own: Part = (record.id ?? undefined) === undefined ? 'without-id' : 'with-id';
    if (part !== undefined && own !== part) continue;
    first ??= own;
    try {
      if (own !== first) throw new BadRow(mixed(first));
      const uuid = identify(record, line, keyColumn, identities);
      yield { json: uuid === undefined ? Buffer.concat([bytes, LINE_END]) : withUuid(bytes, uuid), line };
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      onBad(line, error.message);
    }
  }
}

/** The UUID to add to a record, if any. */
function identify(
  { id, uuid, data }: Line & { data: object },
  line: number,
  keyColumn: string | undefined,
  identities: Identities,
): string | undefined {
  const integer = Number.isSafeInteger(id) ? (id as number) : undefined;
  if (keyColumn !== undefined) {
    if (uuid !== undefined) throw new BadRow('the member "uuid" and --key-column both give the identity');
    const key: unknown = Object.hasOwn(data, keyColumn) ? (data as Record<string, unknown>)[keyColumn] : '';
    if (typeof key !== 'string' && !Number.isSafeInteger(key)) {
      throw new BadRow(`the key column "${keyColumn}" holds neither a text nor an integer`);
    }
    const made = uuidOfKey(String(key), keyColumn);
    identities.add({ id: integer, uuid: made, key: String(key) }, line);
    return made;
  }
  if ((id ?? undefined) === undefined && uuid === undefined) {
    return identities.uuidOfContent(canonical(Object.entries(data)));
  }
  identities.add({ id: integer, uuid: typeof uuid === 'string' ? uuid : undefined }, line);
  return undefined;
}

function mixed(first: Part): string {
  const [rule, here] = first === 'with-id' ? ['an id', 'has none'] : ['no id', 'has one'];
  return (
    `the first record has ${rule} and this one ${here}: one could overwrite the other. ` +
    'A file may mix them, a pipe may not'
  );
}

/** Non-empty lines with their numbers. */
async function* numbered(
  chunks: AsyncIterable<Uint8Array>,
  onBad: Bad,
): AsyncGenerator<{ bytes: Uint8Array; line: number }> {
  for await (const { bytes, firstLine, tooLong } of batchesOfLines(chunks, LIMITS.batch_bytes)) {
    for (const line of tooLong) onBad(line, `the line is longer than ${LIMITS.batch_bytes} bytes`);
    let line = firstLine;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const own = bytes.subarray(start, end);
      const text = line === 1 ? withoutBom(own) : own;
      if (!isBlank(text)) yield { bytes: text, line };
      start = end + 1;
      line += 1;
    }
  }
}

/** A line that is an object with data; undefined for any other. */
function parse(bytes: Uint8Array): (Line & { data: object }) | undefined {
  try {
    const line = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    return typeof line?.data === 'object' && line.data !== null ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Adds the member at the start of the object, so that nothing else of the line is touched. */
function withUuid(bytes: Uint8Array, uuid: string): Uint8Array {
  const brace = bytes.indexOf(0x7b) + 1;
  return Buffer.concat([
    bytes.subarray(0, brace),
    Buffer.from(`"uuid":"${uuid}",`),
    bytes.subarray(brace),
    LINE_END,
  ]);
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
