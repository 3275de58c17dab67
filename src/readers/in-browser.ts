// The import of the page: what reads files here and has no part of Node. The build makes one module of it.

import type { ValueFormats } from '../schema/types/requests.js';
import { textOf } from './cells.js';
import { ChosenColumns, vectorOf } from './chosen-columns.js';
import { addedFormats } from './column-formats.js';
import type { ColumnType, TypeHint } from './column-types.js';
import { type CsvLayout, detectLayout, linesAboveHeader } from './csv/dialect.js';
import type { CsvHeader } from './csv/header.js';
import { rowsOfCsv } from './csv/rows.js';
import type { Format } from './format.js';
import { type IdentityColumns, isIdentityOnly } from './identity/column.js';
import { OtherKind, type OtherKindCalls } from './identity/other-kind.js';
import { Input } from './input.js';
import { Inspection } from './inspection.js';
import { rowsOfDocuments } from './json/documents.js';
import { isJsonObject } from './json/object.js';
import { rowOfJson } from './json/row.js';
import { refuseWrapper } from './json/wrapper.js';
import { groupedHints, headerWarning, reasonOfText } from './notes.js';
import { refuseNoTable } from './other-formats.js';
import { isBroken, type ReadRow, type RejectedRow, type SourceRow } from './rows.js';
import { TextColumns } from './text-columns.js';

const SAMPLE_BYTES = 1 << 18;
const SAMPLE_ROWS = 20;

export interface BadLine {
  line: number;
  reason: string;
}

/** A record to send: a line of NDJSON, and the line of the file that it comes from. */
export interface RecordLine {
  json: Uint8Array;
  line: number;
}

/** What the user says about a file before it is read. */
export interface FileChoices {
  /** The column of the identity. Default: the file's `id` or `uuid`. */
  idColumn?: string | undefined;
  /** New names of columns by those of the file. The other choices, and the columns of the file, have the new ones. */
  rename?: Readonly<Record<string, string>> | undefined;
  /** Texts of CSV that stand for no value. */
  nulls?: readonly string[] | undefined;
  /** The column with the vectors; '' for none. Default: a list `vector` of JSON. */
  vectorColumn?: string | undefined;
}

/** The types that the user chose; `skip` leaves a column out. */
type Types = Readonly<Record<string, ColumnType | 'skip' | undefined>>;

/** A `File` of a browser does not change while it is read. */
const SOURCE = { file: '', checkUnchanged: async () => undefined };

/** A file in a browser, read once to decide its columns. */
export class BrowserFile {
  readonly #format: Format;
  readonly #inspection: Inspection;
  readonly #texts: TextColumns;
  /** The first rows, each with the text of every column. */
  readonly sample: readonly (readonly string[])[];
  /** Number of rows that are no records. They are reported when records are made. */
  readonly broken: number;
  /** Whether objects of the file become columns. */
  readonly isNested: boolean;
  /** The number of values of the first vector; undefined without vectors. */
  readonly dimensions: number | undefined;
  /** The columns that may have the vectors. */
  readonly vectorColumns: readonly string[];
  readonly #idColumn: string | undefined;

  private constructor(
    format: Format,
    inspection: Inspection,
    { sample, broken, texts }: { sample: readonly SourceRow[]; broken: number; texts: TextColumns },
    { idColumn, vectorColumn }: FileChoices,
    isNested: boolean,
  ) {
    this.isNested = isNested;
    const vector = sample.find((row) => row.vector !== undefined)?.vector;
    this.dimensions = vector === undefined ? undefined : (JSON.parse(vector) as unknown[]).length;
    const chosen = vectorColumn || (vector === undefined ? [] : 'vector');
    this.vectorColumns = [chosen, inspection.names.filter((name) => hasVectors(sample, name))].flat();
    this.broken = broken;
    this.#format = format;
    this.#inspection = inspection;
    this.#texts = texts;
    this.#idColumn = idColumn;
    this.sample = sample.map(({ names, cells }) =>
      inspection.names.map((name) => textOf(cells[names.indexOf(name)] ?? null)),
    );
  }

  /**
   * Detects format, columns and identity. `onProgress` gets the number of rows so far.
   *
   * @throws {Error} also for a choice that does not fit the file.
   */
  static async open(
    file: Blob,
    {
      onProgress,
      signal,
      ...choices
    }: FileChoices & { onProgress?(rows: number): void; signal?: AbortSignal } = {},
  ): Promise<BrowserFile> {
    const { idColumn, rename, nulls, vectorColumn } = choices;
    const found = await formatOf(file, idColumn);
    const chosen = new ChosenColumns({
      flatten: true,
      rename: rename ?? {},
      ...(vectorColumn === '' ? { skipColumns: found.typed ? ['vector'] : [] } : { vectorColumn }),
    });
    const format = chosen.applyTo({ ...found, nulls: new Set(nulls) });
    const inspection = new Inspection(format, idColumn);
    const texts = new TextColumns();
    const sample: SourceRow[] = [];
    let broken = 0;
    for await (const rows of format.rows()) {
      signal?.throwIfAborted();
      for (const row of rows) {
        if (isBroken(row)) broken += 1;
        else {
          inspection.observe(row);
          texts.observe(row);
          if (sample.length < SAMPLE_ROWS) sample.push(row);
        }
      }
      onProgress?.(inspection.rows);
    }
    return new BrowserFile(format, inspection, { sample, broken, texts }, choices, chosen.hasNested);
  }

  get format(): string {
    return this.#format.description;
  }

  /** Whether the values of the file have types of their own. */
  get typed(): boolean {
    return this.#format.typed;
  }

  /** What the user should know before the import. */
  get notes(): string[] {
    const warning = this.typed ? undefined : headerWarning(this.columns);
    return [
      ...(warning === undefined ? [] : [warning]),
      ...this.#format.header.notes,
      ...groupedHints(this.#inspection.hints).map((group) => {
        const [{ type, nulls, isInexact }] = group as [TypeHint];
        const remedy =
          nulls.length > 0
            ? ': name such texts under "No value"'
            : isInexact
              ? ''
              : `: choose the type ${type}`;
        return reasonOfText(group) + remedy;
      }),
    ];
  }

  get rows(): number {
    return this.#inspection.rows;
  }

  /** The columns with their types; undefined for a column whose values have types of their own. */
  get columns(): { name: string; type: ColumnType | undefined }[] {
    return this.#inspection.names.map((name) => ({ name, type: this.#inspection.typeOf(name) }));
  }

  /** The texts in each column of the records: whether it has any, how many values are none, and whether they tell what it is. */
  get texts(): { name: string; isText: boolean; others: number; isTelling: boolean }[] {
    const { identity } = this;
    const names = this.#inspection.names.filter((name) => !isIdentityOnly(name, identity));
    const telling = new Set(this.#texts.telling(names));
    return names.map((name) => ({ name, ...this.#texts.of(name), isTelling: telling.has(name) }));
  }

  get identity(): IdentityColumns {
    const { identity } = this.#inputWith({});
    return identity as IdentityColumns;
  }

  #inputWith(choices: Types): Input {
    const skipped: string[] = [];
    const types: Record<string, ColumnType> = Object.create(null);
    for (const [name, type] of Object.entries(choices)) {
      // The column may have become that of the identity.
      if (type === 'skip' && name !== this.identity.column) skipped.push(name);
      if (type !== undefined && type !== 'skip') types[name] = type;
    }
    // An export has no format for what is not stored.
    for (const name of skipped) types[name] = 'text';
    // Of several names, each may have a comma.
    const chosen = new ChosenColumns({ skipColumns: [...skipped, ...skipped] });
    const options = { types, ...(this.#idColumn !== undefined && { idColumn: this.#idColumn }) };
    return new Input(SOURCE, options, chosen.applyTo(this.#format), this.#inspection, chosen);
  }

  /** The formats of the columns beyond those that a database has; undefined without any. */
  formats(types: Types, existing?: ValueFormats): ValueFormats | undefined {
    return addedFormats(this.#inputWith(types), existing);
  }

  /**
   * Checks whether a database has the records of the file under another kind of identity. `get` requests one of its
   * records.
   *
   * @throws {Error} when the records would be stored twice.
   */
  async checkKind(types: Types, get: OtherKindCalls['get']): Promise<void> {
    const optionFor = (name: string, type: ColumnType) => `the column "${name}" the type ${type}`;
    await new OtherKind({ get, optionFor }).check(this.#inputWith(types).inferredIdentity());
  }

  /**
   * Yields the records, and the lines that are none. Records with an integer id come first, because the service gives the
   * others ids above all that exist.
   */
  async *records(types: Types = {}): AsyncGenerator<{ records: RecordLine[]; bad: BadLine[] }> {
    const bad: BadLine[] = [];
    const onBad = ({ line }: RejectedRow, reason: string) => bad.push({ line, reason });
    for await (const records of this.#inputWith(types).records(onBad)) {
      yield { records, bad: bad.splice(0) };
    }
    yield { records: [], bad };
  }
}

/** Whether a column has vectors, and nothing else. */
function hasVectors(sample: readonly SourceRow[], name: string): boolean {
  const cells = sample.map(({ names, cells }) => cells[names.indexOf(name)] ?? null);
  const values = cells.filter((cell) => cell !== null && cell !== '');
  return values.length > 0 && values.every((cell) => vectorOf(cell) !== undefined);
}

async function formatOf(file: Blob, idColumn: string | undefined): Promise<Format> {
  const head = await file.slice(0, SAMPLE_BYTES).arrayBuffer();
  const isWhole = head.byteLength === file.size;
  // The end of the sample may divide a character.
  const text = new TextDecoder('utf-8').decode(head, { stream: !isWhole });
  const start = text.trimStart();
  if (start === '') throw new Error('The file is empty.');
  if (/[\0\ufffd]/.test(text)) {
    throw new Error(
      'The file is not text in UTF-8. The command "cosift import" reads other encodings, and Parquet.',
    );
  }
  const header: Format['header'] = { raw: '', names: [], notes: [] };
  const common = {
    unit: 'line',
    nulls: new Set<string>(),
    encoding: 'utf-8',
    options: [],
    isRepeatable: true,
    header,
    emptyLines: 0,
  } as const;
  if (/^[[{]/.test(start)) refuseWrapper(text, isWhole);
  if (start.startsWith('{') && start.split('\n').some((line) => line.startsWith('{') && isJsonObject(line))) {
    const rows = () => rowsOfLines(file, idColumn);
    return { ...common, name: 'ndjson', description: 'NDJSON', typed: true, rows };
  }
  if (/^[[{]/.test(start)) {
    const rows = () => rowsOfDocuments(chunksOf(file), idColumn);
    return { ...common, name: 'json', description: 'JSON', typed: true, rows };
  }
  const sample = detectLayout(text, isWhole, {});
  refuseNoTable(sample, (minShare) => linesAboveHeader(text, isWhole, {}, minShare));
  const onHeader = (raw: string, { names, notes }: CsvHeader) => Object.assign(header, { raw, names, notes });
  const rows = () => rowsOfCsv(chunksOf(file), sample.layout, { onHeader });
  return { ...common, name: 'csv', description: nameOf(sample.layout), typed: false, rows };
}

function nameOf({ separator, quote }: CsvLayout): string {
  const separated =
    separator === ',' ? [] : [`separated by ${separator === '\t' ? 'tabs' : `"${separator}"`}`];
  const quoted = quote === '"' ? [] : [quote === '' ? 'without quotes' : `quoted by ${quote}`];
  return ['CSV', ...separated, ...quoted].join(', ');
}

async function* rowsOfLines(file: Blob, idColumn: string | undefined): AsyncGenerator<ReadRow[]> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let line = 0;
  const rowOf = (text: string): ReadRow[] => {
    line += 1;
    return text.trim() === '' ? [] : [rowOfJson(text.trimEnd(), { line }, idColumn)];
  };
  for await (const chunk of chunksOf(file)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines.flatMap(rowOf);
  }
  yield rowOf(rest + decoder.decode());
}

/** The bytes of a file without a byte order mark. */
async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const head = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  const reader = (hasMark ? file.slice(3) : file).stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
