import { isPlain } from '../schema/plain.js';
import type { NewRecord } from '../schema/public-types.js';
import { MEMBERS, RecordValues } from './record-values.js';
import { valuesOf } from './vectors.js';

/** A record as JSON, without a vector of type `Float32Array`. */
interface Encoded {
  json: string;
  vector: Float32Array | undefined;
}

/** The records of one batch as JSON. A record is encoded when it is added: the caller may change it afterwards. */
export class RecordBatch {
  readonly #values = new RecordValues();
  readonly #records: Encoded[] = [];
  readonly #complete: (record: NewRecord) => NewRecord;
  #length = 0;

  /** `complete` returns the record that is sent for a record of the caller. */
  constructor(complete: (record: NewRecord) => NewRecord = (record) => record) {
    this.#complete = complete;
  }

  /** Number of records. */
  get length(): number {
    return this.#length;
  }

  /** Adds a record. A value that JSON cannot represent is reported by {@link throwIfWrong}. */
  add(record: NewRecord): void {
    const read = membersOf(record) as NewRecord;
    if (this.#values.check(read, this.#length)) this.#records.push(encoded(this.#complete(read)));
    this.#length += 1;
  }

  /** @throws {CosiftError} `invalid_record` with a pointer to each value that JSON cannot represent. */
  throwIfWrong(): void {
    this.#values.throwIfWrong();
  }

  /** Returns the request of an upsert. */
  toJson(): string {
    return requestOf(this.#records.map(withVector));
  }

  /** Returns the request, with vectors of type `Float32Array` apart: as text they would be five times as large. */
  toJsonAndVectors(): { json: string; vectors?: Float32Array } {
    const dimensions = this.#records[0]?.vector?.length;
    if (!dimensions || this.#records.some(({ vector }) => vector?.length !== dimensions)) {
      return { json: this.toJson() };
    }
    const vectors = new Float32Array(this.#records.length * dimensions);
    for (const [at, { vector }] of this.#records.entries()) if (vector) vectors.set(vector, at * dimensions);
    return { json: requestOf(this.#records.map(({ json }) => json)), vectors };
  }
}

/** Reads each member of a record once, because a getter may return something else the next time. */
function membersOf(record: unknown): unknown {
  if (!isPlain(record)) return record;
  const members = { ...record };
  // A class may have them as getters, which are no members of its objects.
  for (const name of MEMBERS)
    if (!(name in members) && record[name] !== undefined) members[name] = record[name];
  if (isPlain(members.data)) members.data = { ...members.data };
  if (isPlain(members.timestamps)) members.timestamps = { ...members.timestamps };
  return members;
}

function encoded(record: NewRecord): Encoded {
  const { vector, ...bare } = record;
  if (vector instanceof Float32Array) {
    // A view of memory that was transferred to another thread has no values, and cannot be copied.
    const copy = vector.length === 0 ? new Float32Array() : vector.slice();
    return { json: JSON.stringify(bare), vector: copy };
  }
  // JSON would write another typed array as an object.
  const json = JSON.stringify(ArrayBuffer.isView(vector) ? { ...bare, vector: valuesOf(vector) } : record);
  return { json, vector: undefined };
}

function withVector({ json, vector }: Encoded): string {
  if (vector === undefined) return json;
  const members = json === '{}' ? '' : `${json.slice(1, -1)},`;
  return `{${members}"vector":${JSON.stringify(Array.from(vector))}}`;
}

function requestOf(records: readonly string[]): string {
  return `{"records":[${records.join(',')}]}`;
}
