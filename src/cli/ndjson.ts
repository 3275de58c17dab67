import { batchesOfLines } from '../backend/index.js';
import { LIMITS } from '../schema/index.js';
import { withoutBom } from './encoding.js';
import { BadRow, canonical, type Identities, uuidOfKey } from './identities.js';
import type { ColumnOptions, OnBadLine, Part, Row } from './rows.js';

const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);

/** The members of a line that matter here. */
interface Line {
  id?: unknown;
  uuid?: unknown;
  data?: unknown;
}

/**
 * Yields the lines of NDJSON that belong to a part, each with an identity. Apart from an added identity, their bytes are
 * not changed. A line that is not a record is sent with the first part: the service reports what is wrong.
 *
 * Without a `part`, as for a pipe, which cannot be read twice, either all records must have an id or none.
 */
export async function* linesOfNdjson(
  chunks: AsyncIterable<Uint8Array>,
  part: Part | undefined,
  { keyColumn }: ColumnOptions,
  identities: Identities,
  onBad: OnBadLine,
): AsyncGenerator<Row> {
  let first: Part | undefined;
  for await (const { bytes, line } of numbered(chunks, part === 'without-id' ? () => undefined : onBad)) {
    const record = parse(bytes);
    if (record === undefined) {
      if (part !== 'without-id') yield { json: Buffer.concat([bytes, LINE_END]), line };
      continue;
    }
    const partOfRecord: Part = (record.id ?? undefined) === undefined ? 'without-id' : 'with-id';
    if (part !== undefined && partOfRecord !== part) continue;
    first ??= partOfRecord;
    try {
      if (partOfRecord !== first) throw new BadRow(mixedIds(first));
      const uuid = identify(record, line, keyColumn, identities);
      yield { json: uuid === undefined ? Buffer.concat([bytes, LINE_END]) : withUuid(bytes, uuid), line };
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      onBad(line, error.message);
    }
  }
}

/** Registers the identity of a record. Returns the UUID to add, if any. */
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

/** Explains why a pipe may not mix records with an id and records without one. */
function mixedIds(first: Part): string {
  const [rule, here] = first === 'with-id' ? ['an id', 'has none'] : ['no id', 'has one'];
  return (
    `the first record has ${rule} and this one ${here}: one could overwrite the other. ` +
    'A file may mix them, a pipe may not'
  );
}

/** Yields the non-empty lines with their numbers. */
async function* numbered(
  chunks: AsyncIterable<Uint8Array>,
  onBad: OnBadLine,
): AsyncGenerator<{ bytes: Uint8Array; line: number }> {
  for await (const { bytes, firstLine, tooLong } of batchesOfLines(chunks, LIMITS.batch_bytes)) {
    for (const line of tooLong) onBad(line, `the line is longer than ${LIMITS.batch_bytes} bytes`);
    let line = firstLine;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const lineBytes = bytes.subarray(start, end);
      const text = line === 1 ? withoutBom(lineBytes) : lineBytes;
      if (!isBlank(text)) yield { bytes: text, line };
      start = end + 1;
      line += 1;
    }
  }
}

/** Parses a line; undefined when it is not an object with data. */
function parse(bytes: Uint8Array): (Line & { data: object }) | undefined {
  try {
    const line = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    return typeof line?.data === 'object' && line.data !== null ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Adds the UUID as the first member of the object; the other bytes are not changed. */
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
