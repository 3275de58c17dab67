import { isPlain } from '../schema/plain.js';
import type { NewRecord } from '../schema/public-types.js';
import { MEMBERS, RecordValues } from './record-values.js';
import { valuesOf } from './vectors.js';

/** How the records of a batch are encoded. */
export interface RecordEncoding {
  /** Whether vectors of type `Float32Array` are apart from the JSON: as text they would be five times as large. */
  vectorsApart: boolean;
  /** Returns the record that is sent for a record of the caller. */
  complete?: (record: NewRecord) => NewRecord;
}

/** The request of an upsert. */
export interface EncodedRecords {
  json: Uint8Array<ArrayBuffer>;
  /** The vectors of all records, one after the other; undefined if the JSON has them. */
  vectors: Float32Array | undefined;
}

/** The records of one batch as JSON. A record is encoded when it is added: the caller may change it afterwards. */
export class RecordBatch {
  readonly #encoding: RecordEncoding;
  readonly #values = new RecordValues();
  readonly #json = new Text();
  readonly #vectors = new Values();
  /** Where the last byte of each record is, and how many values its vector has if the JSON lacks it. */
  readonly #records: { last: number; dimensions: number | undefined }[] = [];
  #length = 0;

  constructor(encoding: RecordEncoding) {
    this.#encoding = encoding;
    this.#json.append('{"records":[');
  }

  /** Number of records. */
  get length(): number {
    return this.#length;
  }

  /** Adds a record. A value that JSON cannot represent is reported by {@link encoded}. */
  add(record: NewRecord): void {
    const read = membersOf(record) as NewRecord;
    if (this.#values.check(read, this.#length)) {
      const { complete, vectorsApart } = this.#encoding;
      this.#encode(complete === undefined ? read : complete(read), vectorsApart);
    }
    this.#length += 1;
  }

  /**
   * Ends the batch.
   *
   * @throws {CosiftError} `invalid_record` with a pointer to each value that JSON cannot represent.
   */
  encoded(): EncodedRecords {
    this.#values.throwIfWrong();
    this.#json.append(']}');
    const json = this.#json.bytes();
    const [first] = this.#records;
    const isApart = this.#records.every(({ dimensions }) => dimensions === first?.dimensions);
    return isApart && first?.dimensions
      ? { json, vectors: this.#vectors.all() }
      : { json: this.#withVectors(json), vectors: undefined };
  }

  #encode(record: NewRecord, vectorsApart: boolean): void {
    if (this.#records.length > 0) this.#json.append(',');
    const { vector } = record;
    let dimensions: number | undefined;
    if (!ArrayBuffer.isView(vector)) this.#json.append(JSON.stringify(record));
    else if (vectorsApart && vector instanceof Float32Array) {
      dimensions = vector.length;
      this.#vectors.append(vector);
      this.#json.append(JSON.stringify({ ...record, vector: undefined }));
    } else this.#json.append(JSON.stringify({ ...record, vector: valuesOf(vector) }));
    this.#records.push({ last: this.#json.length - 1, dimensions });
  }

  /** Puts the vectors into the JSON where only some of the records have one apart, or they are not equally long. */
  #withVectors(json: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (this.#records.every(({ dimensions }) => dimensions === undefined)) return json;
    const text = new Text();
    let [from, at] = [0, 0];
    for (const { last, dimensions } of this.#records) {
      if (dimensions === undefined) continue;
      text.appendBytes(json.subarray(from, last));
      // A record without further members is `{}`.
      const comma = json[last - 1] === OBJECT ? '' : ',';
      const vector = this.#vectors.all().subarray(at, at + dimensions);
      text.append(`${comma}"vector":${JSON.stringify(Array.from(vector))}`);
      from = last;
      at += dimensions;
    }
    text.appendBytes(json.subarray(from));
    return text.bytes();
  }
}

const OBJECT = '{'.charCodeAt(0);

/** UTF-8 that grows. */
class Text {
  static readonly #encoder = new TextEncoder();
  #buffer = new Uint8Array(1 << 12);
  /** Number of bytes. */
  length = 0;

  append(text: string): void {
    // A code unit has at most three bytes.
    this.#reserve(3 * text.length);
    this.length += Text.#encoder.encodeInto(text, this.#buffer.subarray(this.length)).written;
  }

  appendBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.length);
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#buffer.length, this.length + bytes));
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}

/** Values of vectors, one after the other. */
class Values {
  #buffer = new Float32Array(1 << 10);
  #length = 0;

  append(values: Float32Array): void {
    // A view of memory that was transferred to another thread has no values, and cannot be copied.
    if (values.length === 0) return;
    const length = this.#length + values.length;
    if (length > this.#buffer.length) {
      const larger = new Float32Array(Math.max(2 * this.#buffer.length, length));
      larger.set(this.all());
      this.#buffer = larger;
    }
    this.#buffer.set(values, this.#length);
    this.#length = length;
  }

  all(): Float32Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** Reads each member of a record once, because a getter may return something else the next time. */
function membersOf(record: unknown): unknown {
  if (!isPlain(record)) return record;
  const members = { ...record };
  // A class may have them as getters, which are no members of its objects.
  for (const name of MEMBERS) {
    const member = name in members ? undefined : record[name];
    if (member !== undefined) members[name] = member;
  }
  if (isPlain(members.data)) members.data = { ...members.data };
  if (isPlain(members.timestamps)) members.timestamps = { ...members.timestamps };
  return members;
}
