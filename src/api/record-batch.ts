import { BATCH_RECORDS } from '../schema/limits.js';
import { isPlain } from '../schema/plain.js';
import type { NewRecord } from '../schema/public-types.js';
import { CheckedCopy, type Parent } from './checked-copy.js';

/** UTF-16 code units after which a batch ends: a service takes 64 MiB, and a code unit has at most three bytes. */
const MAX_TEXT = 1 << 24;

/** The members of a record. */
const MEMBERS = [
  'id',
  'uuid',
  'key',
  'data',
  'timestamps',
  'vector',
  'passages',
  'embedded_by',
  'if_changed_at',
] as const satisfies readonly (keyof NewRecord)[];

const REQUEST: Parent = { value: {}, name: '', parent: undefined, depth: 0 };
const RECORDS: Parent = { value: {}, name: 'records', parent: REQUEST, depth: 1 };

export interface RecordEncoding {
  /** Whether vectors of type `Float32Array` are apart from the JSON: as text they would be five times as large. */
  vectorsApart: boolean;
  /** Returns the record that is sent for a record of the caller. */
  complete?: (record: NewRecord) => NewRecord;
}

/** The request of an upsert. */
export interface EncodedRecords {
  /** Each record as JSON. */
  texts: readonly string[];
  /** The vectors of all records, one after the other; undefined if the texts have them. */
  vectors: Float32Array | undefined;
  /** Whether a record has a condition. */
  isConditional: boolean;
}

/** The records of one batch as JSON. A record is encoded when it is added: the caller may change it afterwards. */
export class RecordBatch {
  readonly #encoding: RecordEncoding;
  readonly #copy = new CheckedCopy();
  readonly #vectors = new Values();
  /** The text of each record, and how many values its vector has if the text lacks it. */
  readonly #records: { text: string; dimensions: number | undefined }[] = [];
  #textLength = 0;
  #isConditional = false;
  #length = 0;

  constructor(encoding: RecordEncoding) {
    this.#encoding = encoding;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether the batch has as many records, or as much text, as one batch may have. */
  get isFull(): boolean {
    return this.#length === BATCH_RECORDS || this.#textLength >= MAX_TEXT;
  }

  /** Adds a record. A value that JSON cannot represent is reported by {@link encoded}. */
  add(record: NewRecord): void {
    const members = isPlain(record) ? membersOf(record) : record;
    const apart = this.#takeVector(members);
    const copy = this.#copy.of(members, RECORDS, this.#length) as NewRecord;
    if (this.#copy.isRight) this.#encode(copy, apart);
    this.#length += 1;
  }

  /**
   * Ends the batch.
   *
   * @throws {CosiftError} `invalid_record` or `invalid_json` with a pointer to each value that JSON cannot represent.
   */
  encoded(): EncodedRecords {
    this.#copy.throwIfWrong('the records', () => 'invalid_record');
    const [first] = this.#records;
    const isApart = this.#records.every(({ dimensions }) => dimensions === first?.dimensions);
    const isConditional = this.#isConditional;
    return isApart && first?.dimensions
      ? { texts: this.#records.map(({ text }) => text), vectors: this.#vectors.all(), isConditional }
      : { texts: this.#withVectors(), vectors: undefined, isConditional };
  }

  /** Takes a vector that is apart from the JSON out of the members of a record. */
  #takeVector(members: NewRecord): Float32Array | undefined {
    if (!this.#encoding.vectorsApart || !(members?.vector instanceof Float32Array)) return undefined;
    const { vector } = members;
    members.vector = undefined;
    // A loop without a callback: a batch has hundreds of thousands of values.
    for (let at = 0; at < vector.length; at++) {
      if (Number.isFinite(vector[at])) continue;
      const record: Parent = { value: members, name: this.#length, parent: RECORDS, depth: 2 };
      this.#copy.of(vector[at], { value: vector, name: 'vector', parent: record, depth: 3 }, at);
      break;
    }
    this.#vectors.append(vector);
    return vector;
  }

  #encode(record: NewRecord, apart: Float32Array | undefined): void {
    const { complete } = this.#encoding;
    const text = JSON.stringify(complete !== undefined && isPlain(record) ? complete(record) : record);
    this.#isConditional ||= record?.if_changed_at !== undefined;
    this.#records.push({ text, dimensions: apart?.length });
    this.#textLength += text.length;
  }

  /** The texts with their vectors, where only some of the records have one apart, or they are not equally long. */
  #withVectors(): string[] {
    let from = 0;
    return this.#records.map(({ text, dimensions }) => {
      if (dimensions === undefined) return text;
      const vector = Array.from(this.#vectors.all().subarray(from, from + dimensions));
      from += dimensions;
      // A record without further members is `{}`.
      return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"vector":${JSON.stringify(vector)}}`;
    });
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

/** The members of a record. A class may have them as getters, which are no members of its objects. */
function membersOf(record: NewRecord): NewRecord {
  const members = { ...record };
  for (const name of MEMBERS) {
    const member = name in members ? undefined : record[name];
    if (member !== undefined) Object.assign(members, { [name]: member });
  }
  return members;
}
