import { type Dataset, openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import { checkPages } from '../../oracle/check.js';
import { Truth } from '../../oracle/truth.js';
import { inTemporaryDirectory } from '../../paths.js';
import { Cosift } from '../../peers/adapters/cosift.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared } from './cliff.js';

const ROUNDS = 40;
const CHECKED = 4;
const USUAL = { records: 100_000, dimensions: 384, seed: SEED };
const GOAL = { goal_p50_ms: 3 };

/** How the records of a database are made from those of the usual one. */
interface Kind {
  readonly name: string;
  readonly cell: string;
  /** Writes the vector of a record, which holds that of the usual database. */
  readonly change: (vector: Float32Array, first: Float32Array, record: number, random: Random) => void;
}

const KINDS: readonly Kind[] = [
  { name: 'equal', cell: 'all vectors equal', change: (vector, first) => vector.set(first) },
  {
    name: 'near',
    cell: 'all cosines near 0.99',
    change: (vector, first, _, random) => near(vector, first, random),
  },
  {
    name: 'half',
    cell: 'half of the vectors equal',
    change: (vector, first, record) => record % 2 === 0 && vector.set(first),
  },
];

/** Searches of databases whose records tie, or nearly so, on one thread. */
export const TIES: Cliff = {
  name: 'ties and near-ties',
  run: () => inTemporaryDirectory(ties),
};

async function ties(directory: string): Promise<CliffCell[]> {
  const usual = new Cosift(1);
  const usualData = openDataset(USUAL);
  try {
    await usual.load(usualData, directory);
    const kinds: { readonly kind: Kind; readonly data: Dataset; readonly database: Cosift }[] = [];
    for (const kind of KINDS) {
      const data = changed(usualData, kind);
      kinds.push({ kind, data, database: await usual.beside(kind.name, data) });
    }
    await usual.settle();
    const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
    const cells: CliffCell[] = [];
    for (const { kind, data, database } of kinds) {
      const pages = [];
      for (let q = 0; q < CHECKED; q++) pages.push(await database.search(queryOf(data, q), request));
      const truth = new Truth(data, CHECKED, [NONE]);
      if (!checkPages(truth, NONE, 0, LIMIT, pages).exact) throw new Error(`not exact: ${kind.cell}`);
      const values = await compared(
        (round) => usual.search(queryOf(usualData, (round + 64) % 64), request),
        (round) => database.search(queryOf(data, (round + 64) % 64), request),
        ROUNDS,
        GOAL,
      );
      const cell = `search on one thread, ${kind.cell}`;
      cells.push({ cell, records: data.records, dimensions: data.dimensions, values });
    }
    return cells;
  } finally {
    await usual.close();
  }
}

/** The dataset of a kind. Its queries are near the vector that its records share, so that these are the best. */
function changed(usual: Dataset, { name, change }: Kind): Dataset {
  const { dimensions } = usual;
  const random = new Random(SEED);
  const vectors = usual.vectors.slice();
  const first = usual.vectors.slice(0, dimensions);
  for (let record = 0; record < usual.records; record++)
    change(vectors.subarray(record * dimensions, (record + 1) * dimensions), first, record, random);
  const queries = usual.queries.slice();
  for (let at = 0; at < queries.length; at += dimensions)
    near(queries.subarray(at, at + dimensions), first, random);
  return { ...usual, name: `${usual.name}-${name}`, vectors, queries };
}

/** A unit vector whose cosine with another one like it is about 0.99. */
function near(out: Float32Array, centre: Float32Array, random: Random): void {
  const deviation = 0.1 / Math.sqrt(out.length);
  for (let i = 0; i < out.length; i++) out[i] = (centre[i] as number) + deviation * random.normal();
  const length = Math.hypot(...out);
  for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) / length;
}
