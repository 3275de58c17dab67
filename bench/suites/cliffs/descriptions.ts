import { native } from '../../../src/store/local/binding.js';
import { Random } from '../../data/random.js';
import { unwrap } from '../../peers/adapters/cosift.js';
import { type Cliff, type CliffCell, type Fixture, timed, valuesOf } from './cliff.js';

const DIMENSIONS = 8;
const BATCH = 1_000;
const ROUNDS = 20;
/** Deleted records, scattered over all blocks. */
const DELETED = 30;

interface Shape {
  readonly columns: number;
  readonly records: number;
  /** Columns of one record. */
  readonly each: number;
}

const SHAPES: readonly Shape[] = [
  { columns: 200, records: 12_288, each: 200 },
  { columns: 20_000, records: 12_288, each: 20 },
];

/** Descriptions and lists of databases with many columns after a few deletes, compared with those before. */
export const DESCRIPTIONS: Cliff = {
  name: 'descriptions after scattered deletes',
  async run(fixture: Fixture) {
    const cells: CliffCell[] = [];
    for (const shape of SHAPES) cells.push(await measured(fixture, shape));
    return cells;
  },
};

async function measured({ large: { engine } }: Fixture, shape: Shape): Promise<CliffCell> {
  const id = `columns-${shape.columns}`;
  const settings = {
    model: 'given',
    fingerprint: 'given',
    dimensions: DIMENSIONS,
    embed: { columns: ['c0'] },
  };
  unwrap(await engine.createDatabase(id, JSON.stringify(settings)));
  const random = new Random(shape.columns);
  for (let start = 0; start < shape.records; start += BATCH) {
    const count = Math.min(BATCH, shape.records - start);
    const lines = Array.from({ length: count }, (_, i) => lineOf(shape, start + i));
    const prepared = unwrap(await engine.prepareLines(id, Buffer.from(lines.join('')), 1, false));
    const vectors = Float32Array.from(
      { length: prepared.texts().length * DIMENSIONS },
      () => random.unit() + 0.1,
    );
    unwrap(await engine.commit(id, prepared, vectors, new Uint32Array(), 'given'));
  }
  const before: number[] = [];
  const after: number[] = [];
  const both = () => Promise.all([engine.describeDatabase(id), engine.listDatabases()]);
  for (let round = 0; round < ROUNDS; round++) before.push(await timed(both));
  const step = Math.floor(shape.records / DELETED);
  const ids = Array.from({ length: DELETED }, (_, i) => i * step + 1);
  const deleted = await engine.deleteRecords(
    id,
    JSON.stringify({ variant: 'b', ids }),
    new (native().StopFlag)(),
  );
  if (deleted !== DELETED) throw new Error(`deleted ${JSON.stringify(deleted)}`);
  for (let round = 0; round < ROUNDS; round++) after.push(await timed(both));
  check(JSON.parse(unwrap(await engine.describeDatabase(id)).toString()), shape, new Set(ids));
  return {
    cell: `describe and list, ${shape.columns.toLocaleString('en')} columns, 30 deletes`,
    records: shape.records,
    dimensions: DIMENSIONS,
    values: valuesOf(before, after, { goal_p50_ms: 2 }),
  };
}

/** The columns of a record: c0, and a range that starts elsewhere for each record. */
function columnsOf({ columns, each }: Shape, record: number): Set<number> {
  return new Set([0, ...Array.from({ length: each }, (_, i) => (record * each + i) % columns)]);
}

/** A string in c0, which is embedded, and a string or a number elsewhere. */
function cellOf(record: number, column: number): string | number {
  return column === 0 || (record + column) % 3 === 0 ? `text ${column}` : record % 100;
}

function lineOf(shape: Shape, record: number): string {
  const cells = [...columnsOf(shape, record)].map((column) => [`c${column}`, cellOf(record, column)]);
  return `${JSON.stringify({ id: record + 1, data: Object.fromEntries(cells) })}\n`;
}

/** Compares the described columns with those of the records that are left. */
function check(described: { columns: object[] }, shape: Shape, deleted: ReadonlySet<number>): void {
  const expected = new Map<string, { records: number; types: Set<string> }>();
  for (let record = 0; record < shape.records; record++) {
    if (deleted.has(record + 1)) continue;
    for (const column of columnsOf(shape, record)) {
      const name = `c${column}`;
      const counts = expected.get(name) ?? { records: 0, types: new Set() };
      counts.records++;
      counts.types.add(typeof cellOf(record, column));
      expected.set(name, counts);
    }
  }
  const columns = described.columns as { name: string; records: number; types: string[] }[];
  if (columns.length !== expected.size) throw new Error(`${columns.length} columns are described`);
  for (const { name, records, types } of columns) {
    const counts = expected.get(name);
    if (
      records !== counts?.records ||
      types.some((type) => !counts.types.delete(type)) ||
      counts.types.size > 0
    )
      throw new Error(`column ${name} is described with ${records} records of ${types}`);
  }
}
