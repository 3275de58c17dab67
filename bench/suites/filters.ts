import { type DatasetKey, openDataset } from '../data/dataset.js';
import { type Filter, NONE, OPERATORS, priceBelow, SELECTIVITIES } from '../data/filters.js';
import { type Correctness, checkPages } from '../oracle/check.js';
import { Truth } from '../oracle/truth.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency, pairedRatio } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

const QUERIES = 16;
const SHARES = SELECTIVITIES.map(priceBelow);
/** Peers to compare with: one that evaluates filters, and one that gets prepared bitmaps. */
const COMPARED = new Set(['zvec flat', 'f32 scan (native)']);

/** The cost of a filter by selectivity and by operator. No selectivity may be much slower than the others. */
export const FILTER_SWEEP: Suite = {
  name: 'filters',
  about: 'one query, one thread, by the share of the records that a filter keeps, and by operator',
  peers: true,
  async run(session) {
    for (const key of session.deep) {
      const truth = new Truth(openDataset(key), QUERIES, [NONE, ...SHARES, ...OPERATORS]);
      for (const card of CARDS) {
        const compared = COMPARED.has(card.name) && session.systems.has(card.name);
        if (!(card.ours || compared) || card.maxRecords < key.records) continue;
        session.say(`filters: ${card.name}, ${key.records} records`);
        const peer = new RemotePeer(card, 1);
        try {
          await peer.load(key);
          peer.pin(0);
          await sweep(session, key, peer, truth, [NONE, ...SHARES, ...(card.ours ? OPERATORS : [])]);
        } catch (error) {
          session.failures.push(`filters, ${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
        }
        await peer.end();
      }
    }
  },
};

/** Checks all filters, then times them in turn. Ratios are relative to the first. */
async function sweep(
  session: Session,
  key: DatasetKey,
  peer: RemotePeer,
  truth: Truth,
  filters: readonly Filter[],
): Promise<void> {
  const cells = filters.map((filter) => ({ filter, page: 0, limit: LIMIT, queries: QUERIES }));
  const correct: Correctness[] = [];
  for (const cell of cells) {
    const found = checkPages(truth, cell.filter, 0, LIMIT, await peer.call({ op: 'answers', cell }));
    if (peer.card.ours && !found.exact) throw new Error(`not exact under ${cell.filter.name}`);
    correct.push(found);
  }
  const rounds = cells.map((): number[][] => []);
  for (let round = 0; round < (session.full ? 9 : 5); round++) {
    for (const [i, cell] of cells.entries()) rounds[i]?.push((await peer.call({ op: 'round', cell })).wall);
  }
  for (const [i, filter] of filters.entries()) {
    const { recall, wrong, missing } = correct[i] as Correctness;
    const share = SELECTIVITIES[SHARES.indexOf(filter)];
    const wall = rounds[i] as number[][];
    session.measurements.push({
      suite: 'filters',
      cell: filter.name,
      system: peer.card.name,
      ...factsOf(key),
      ...(share === undefined ? {} : { selectivity: share }),
      values: {
        ...latency(wall.flat()),
        times_unfiltered: pairedRatio(wall, rounds[0] as number[][]),
        recall,
        wrong,
        missing,
      },
    });
  }
}
