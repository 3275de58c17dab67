import { UUID } from '../schema/ids.js';
import { LIMITS } from '../schema/limits.js';
import { type Cell, Nested, Numeral, type Value } from './cells.js';
import { type ColumnType, convert, exactNumber } from './column-types.js';
import {
  columnText,
  hasId,
  type IdentityColumns,
  idOfColumn,
  idOfMember,
  isIdentityOnly,
  uuidOf,
} from './identity/column.js';
import { checkKey, contentOf, type Identities, isIntegerId, uuidOfKey } from './identity/identities.js';
import { BadRow, type RawText, type Row, type SourceRow } from './rows.js';

const LINE_END = '\n';
/** Maximum bytes of a value that is no text, and of a UUID with its name. */
const MAX_OTHER_BYTES = 64;
const encoder = new TextEncoder();

/** How the rows of a file become records. */
export interface RecordPlan {
  identity: IdentityColumns;
  /** Whether `--id-column` names the identity column. */
  named: boolean;
  /** Whether objects of the file are records with `data`. */
  hasRecords: boolean;
  /** Texts that stand for no value in a column of numbers or booleans, also with quotes. */
  nulls: ReadonlySet<string>;
  /**
   * Whether most records are only checked: a record is written when its JSON is read, and the UUID of a record without an
   * identity counts only the records that were written before.
   */
  onlyChecks?: boolean;
  /** Returns the type of a column; undefined when each value has its own. Throws {@link BadRow}. */
  typeOf(name: string, cell: Cell): ColumnType | undefined;
}

export class RecordMaker {
  readonly #plan: RecordPlan;
  readonly #identities: Identities;
  /** The names of columns as JSON, with the colon after them. */
  readonly #names = new Map<string, string>();

  constructor(plan: RecordPlan, identities: Identities) {
    this.#plan = plan;
    this.#identities = identities;
  }

  hasId(row: SourceRow): boolean {
    return hasId(row, this.#plan.identity, this.#plan.named);
  }

  /** @throws {BadRow} when the row cannot be stored. */
  make(row: SourceRow): Row {
    this.#checkMembers(row);
    const values = this.#values(row);
    const identity = this.#identity(row);
    const maxBytes = this.#plan.onlyChecks ? this.#maxBytes(row, values, identity) : Number.POSITIVE_INFINITY;
    const made = new MadeRow(row, values, maxBytes, () => this.#write(row, values, identity));
    if (maxBytes > LIMITS.batch_bytes) made.write();
    return made;
  }

  #write(row: SourceRow, values: readonly Value[], identity: readonly string[] | undefined): Uint8Array {
    const isData = this.#isData(row);
    let data = '';
    for (let at = 0; at < values.length; at++) {
      const name = row.names[at] as string;
      if (isData(name)) data += `${data === '' ? '' : ','}${this.#name(name)}${JSON.stringify(values[at])}`;
    }
    const texts = identity ?? [this.#uuidOfContent(row)];
    const json = encoder.encode(
      `{${[...texts, ...this.#members(row), `"data":{${data}}`].join(',')}}${LINE_END}`,
    );
    if (json.length > LIMITS.batch_bytes) {
      throw new BadRow(`the record is longer than ${LIMITS.batch_bytes} bytes`);
    }
    return json;
  }

  /** Returns the bytes of JSON that a record has at most. */
  #maxBytes(row: SourceRow, values: readonly Value[], identity: readonly string[] | undefined): number {
    // A character of UTF-16 has at most 3 bytes of UTF-8.
    let bytes = identity === undefined ? MAX_OTHER_BYTES : 0;
    for (const member of identity ?? []) bytes += 3 * member.length;
    for (const member of this.#members(row)) bytes += 3 * member.length;
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      // A control character is written with 6.
      bytes += 3 * this.#name(row.names[at] as string).length + MAX_OTHER_BYTES;
      const elements = Array.isArray(value) ? value : [value];
      bytes += MAX_OTHER_BYTES * (elements.length - 1);
      for (const element of elements) if (typeof element === 'string') bytes += 6 * element.length;
    }
    return bytes;
  }

  /** A record with a wrong name is not silently stored as a row. */
  #checkMembers({ unknownMembers, cells }: SourceRow): void {
    const isFlat = !cells.some((cell) => cell instanceof Nested && cell.json.startsWith('{'));
    if (unknownMembers === undefined || (isFlat && !this.#plan.hasRecords)) return;
    const names = unknownMembers.map((name) => `"${name}"`).join(', ');
    const problem = `${names}: no ${unknownMembers.length === 1 ? 'member' : 'members'} of a record with "data"`;
    throw new BadRow(
      isFlat
        ? `${problem}, as other objects of the file are; if all of them are rows, name a member of each by --id-column`
        : `${problem}; --flatten stores the object as a row, with columns such as "data.name"`,
    );
  }

  /** Returns whether a column of a row is data of its record. */
  #isData({ members }: SourceRow): (name: string) => boolean {
    const isRecord = members !== undefined && !this.#plan.named;
    return (name) => isRecord || !isIdentityOnly(name, this.#plan.identity);
  }

  #values(row: SourceRow): Value[] {
    const { names, cells } = row;
    const isData = this.#isData(row);
    const values: Value[] = [];
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string;
      values.push(isData(name) ? this.#value(name, cells[at] ?? null) : null);
    }
    return values;
  }

  #value(name: string, cell: Cell): Value {
    if (!name.isWellFormed() || (typeof cell === 'string' && !cell.isWellFormed())) {
      throw new BadRow(`column "${name.toWellFormed()}": contains half of a surrogate pair`);
    }
    try {
      const type = this.#plan.typeOf(name, cell);
      const isNull = type !== 'text' && typeof cell === 'string' && this.#plan.nulls.has(cell);
      const value = isNull ? null : convert(cell, type);
      if (Array.isArray(value)) checkElements(value);
      return value;
    } catch (error) {
      throw new BadRow(`column "${name}": ${(error as Error).message}`);
    }
  }

  #name(name: string): string {
    let json = this.#names.get(name);
    if (json === undefined) {
      json = `${JSON.stringify(name)}:`;
      this.#names.set(name, json);
    }
    return json;
  }

  #members({ members, vector, embeddedBy }: SourceRow): string[] {
    if (members === undefined) {
      if (vector === undefined) return [];
      const by = embeddedBy === undefined ? [] : [`"embedded_by":${JSON.stringify(embeddedBy)}`];
      return [`"vector":${vector}`, ...by];
    }
    return [...members].map(([name, json]) => this.#name(name) + json);
  }

  /** Registers the identity of a record, and returns the members to add; undefined if its content identifies it. */
  #identity(row: SourceRow): string[] | undefined {
    if (row.members !== undefined && !this.#plan.named) return this.#identityOfMembers(row, row.members);
    if (['id', 'uuid', 'key'].some((name) => row.members?.has(name))) {
      throw new BadRow('the record has "id", "uuid" or "key", and --id-column gives its identity too');
    }
    const { kind, uuids, ...identity } = this.#plan.identity;
    const text = idOfColumn(row, identity.column);
    // There is one where there is a text.
    const column = identity.column as string;
    const uuid = uuids ? columnText(row, 'uuid') : '';
    if (text === '' && uuid === '') return undefined;
    if (text !== '' && kind === 'key') {
      checkKey(text, column);
      this.#identities.add({ uuid: uuidOfKey(text), key: text }, row.line);
      return [`"key":${JSON.stringify(text)}`];
    }
    if (text !== '' && kind === 'id' && !isIntegerId(text)) {
      throw new BadRow(
        `column "${column}": "${text}" is not an integer from 1 to ${Number.MAX_SAFE_INTEGER} like the other ids`,
      );
    }
    const id = kind === 'id' && text !== '' ? Number(text) : undefined;
    const given = kind === 'uuid' ? text : uuid;
    if (given !== '' && !UUID.test(given)) throw this.#noUuid(given, uuids ? 'uuid' : column);
    const key = this.#keyBeside(given, row);
    this.#identities.add({ id, uuid: given === '' ? undefined : given }, row.line);
    return [
      ...(id === undefined ? [] : [`"id":${id}`]),
      ...(given === '' ? [] : [`"uuid":"${given.toLowerCase()}"`]),
      ...(key === '' ? [] : [`"key":${JSON.stringify(key)}`]),
    ];
  }

  #noUuid(text: string, column: string): BadRow {
    const usual = uuidOf(text);
    const reason =
      usual === undefined
        ? `"${text}" is not a UUID like other values of the column`
        : `"${text}" is a UUID in another form than ${usual}`;
    const advice = this.#plan.named
      ? `; --types ${column}=text makes the values keys`
      : `; --id-column ${column} --types ${column}=text makes the values keys, and --id-column for another column makes "${column}" data`;
    return new BadRow(`column "${column}": ${reason}${advice}`);
  }

  /** Returns the key of a row whose UUID is `uuid`; '' when it has none. */
  #keyBeside(uuid: string, row: SourceRow): string {
    const key = this.#plan.identity.keys === 'none' ? '' : columnText(row, 'key');
    if (key === '') return '';
    checkKey(key, 'key');
    if (uuid.toLowerCase() === uuidOfKey(key)) return key;
    throw new BadRow(`column "key": "${key}" is not the key of the uuid, like the first keys`);
  }

  #identityOfMembers(row: SourceRow, members: ReadonlyMap<string, string>): string[] | undefined {
    const id = idOfMember(members.get('id') ?? 'null');
    const key = stringOf(members.get('key'));
    const uuid = stringOf(members.get('uuid')) ?? (key === undefined ? undefined : uuidOfKey(key));
    if (members.get('id')?.startsWith('"')) {
      throw new BadRow(
        `the member "id" is ${id}, and the id of a record is an integer: --flatten --id-column id makes the values keys, ` +
          'and so does the name "key" in place of "id"',
      );
    }
    if (id === 'null' && !members.has('uuid') && !members.has('key')) return undefined;
    // The service refuses a member that is not valid, with a reason.
    this.#identities.add({ id: isIntegerId(id) ? Number(id) : undefined, uuid, key }, row.line);
    return [];
  }

  #uuidOfContent({ names, cells }: SourceRow): string {
    return `"uuid":"${this.#identities.uuidOfContent(contentOf(names, cells))}"`;
  }
}

/** A record whose JSON is written when it is needed first. A class, because V8 is slow with literals that have accessors. */
class MadeRow implements Row {
  readonly #write: () => Uint8Array;
  #json: Uint8Array | undefined;
  maxBytes: number;
  readonly names: readonly string[];
  readonly values: readonly Value[];
  readonly isOfColumns: boolean;
  readonly line: number;
  readonly record: number | undefined;
  readonly raw: RawText;

  constructor(
    { names, members, vector, line, record, raw }: SourceRow,
    values: readonly Value[],
    maxBytes: number,
    write: () => Uint8Array,
  ) {
    this.names = names;
    this.values = values;
    this.maxBytes = maxBytes;
    this.isOfColumns = members === undefined && vector === undefined;
    this.line = line;
    this.record = record;
    this.raw = raw;
    this.#write = write;
  }

  get json(): Uint8Array {
    return this.#json ?? this.write();
  }

  write(): Uint8Array {
    this.#json = this.#write();
    this.maxBytes = this.#json.length;
    return this.#json;
  }
}

function checkElements(elements: readonly unknown[]): void {
  if (elements.every((element) => typeof element !== 'string' || element.isWellFormed())) return;
  throw new Error('contains half of a surrogate pair');
}

function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? (JSON.parse(json) as string) : undefined;
}

/**
 * Decides types while rows are sent, for a pipe of values that have types. A number with more digits than a double keeps
 * makes its column text, unless rows with numbers were sent before.
 */
export class LiveTypes {
  readonly #types = new Map<string, 'number' | 'text'>();

  /** The columns whose numbers are text so far. */
  get texts(): string[] {
    return [...this.#types].flatMap(([name, type]) => (type === 'text' ? [name] : []));
  }

  typeOf(name: string, cell: Cell): ColumnType | undefined {
    if (cell instanceof Nested || (typeof cell !== 'number' && !(cell instanceof Numeral))) return undefined;
    const type = this.#types.get(name);
    if (type === 'text') return 'text';
    const isExact = typeof cell === 'number' || exactNumber(cell.text) !== undefined;
    if (isExact) {
      this.#types.set(name, 'number');
      return undefined;
    }
    if (type === 'number') {
      throw new Error(
        `${(cell as Numeral).text} has more digits than a number keeps, and earlier rows have numbers: ` +
          `store the column as text by --types ${name}=text, or import a file`,
      );
    }
    this.#types.set(name, 'text');
    return 'text';
  }
}
