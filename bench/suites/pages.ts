import { type DatasetKey, openDataset } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { checkDrain, checkPages } from '../oracle/check.js';
import { DEPTH, Truth } from '../oracle/truth.js';
import type { PeerCard } from '../peers/peer.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency, pairedRatio } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

const QUERIES = 16;
/** The filter whose matches fill all measured pages. */
const ONE = 1;
const ROUNDS = 31;
const PAGES = [0, 19, 99, 999];

/** The cost of a page by its depth, and of reading all pages. */
export const PAGES_BY_DEPTH: Suite = {
  name: 'pages',
  about: 'one page at several depths, and all pages one after the other, by cursor',
  async run(session) {
    const card = CARDS.find(({ ours }) => ours);
    if (card === undefined) throw new Error('ours is missing');
    for (const key of session.deep) {
      session.say(`pages: ${key.records} records`);
      const truth = new Truth(openDataset(key), QUERIES, [NONE]);
      const peer = new RemotePeer(card, 1);
      await peer.load(key);
      peer.pin(0);
      const facts = { suite: 'pages', system: card.name, ...factsOf(key) };
      const begun = performance.now();
      const pages = await peer.call({ op: 'drain', filter: NONE, limit: 100, pages: 1_000, query: 0 });
      const seconds = (performance.now() - begun) / 1_000;
      const rows = pages.reduce((sum, page) => sum + page.ids.length, 0);
      const first = checkDrain(truth, NONE, 0, pages.slice(0, DEPTH / 100));
      const repeated = rows - new Set(pages.flatMap((page) => page.ids)).size;
      session.measurements.push({
        ...facts,
        cell: `all pages of 100, ${rows.toLocaleString('en')} records`,
        values: { per_second: rows / seconds, lost: first.lost, repeated },
      });
      // Skipped if no query reaches the page, because an empty page would be timed.
      const reached = PAGES.filter((page) => (page + 1) * LIMIT <= rows);
      const rounds = reached.map((): number[][] => []);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, page] of reached.entries()) {
          const { wall } = await peer.call({
            op: 'round',
            cell: { filter: NONE, page, limit: LIMIT, queries: ONE },
          });
          rounds[i]?.push(wall);
        }
      }
      for (const [i, page] of reached.entries()) {
        session.measurements.push({
          ...facts,
          cell: 'one page',
          page: page + 1,
          values: {
            ...latency((rounds[i] as number[][]).flat()),
            times_first_page: pairedRatio(rounds[i] as number[][], rounds[0] as number[][]),
          },
        });
      }
      await peer.end();
      await measureFirstSight(session, key, card, truth);
    }
  },
};

/** Page 20 in a new process, by a cursor from another process, so that no cache can help. */
async function measureFirstSight(
  session: Session,
  key: DatasetKey,
  card: PeerCard,
  truth: Truth,
): Promise<void> {
  const page = DEPTH / LIMIT - 1;
  const [finder, stranger, control] = [
    new RemotePeer(card, 1),
    new RemotePeer(card, 1),
    new RemotePeer(card, 1),
  ];
  try {
    const { directory } = await finder.load(key);
    const drains = [];
    for (let query = 0; query < QUERIES; query++) {
      drains.push(await finder.call({ op: 'drain', filter: NONE, limit: LIMIT, pages: page + 1, query }));
    }
    await finder.end();
    // Queries with fewer matches have no such page.
    const cursors = drains.flatMap((pages) => pages[page - 1]?.next ?? []);
    if (cursors.length < QUERIES) return;
    const cell = { filter: NONE, limit: LIMIT, queries: QUERIES };
    // For comparison, the first pages of the same queries in another new process.
    await control.call({ op: 'reopen', key, directory });
    control.pin(0);
    const first = await control.call({ op: 'round', cell: { ...cell, page: 0 } });
    await control.end();
    await stranger.call({ op: 'reopen', key, directory });
    stranger.pin(0);
    const deep = await stranger.call({ op: 'round', cell: { ...cell, page, cursors } });
    const answers = await stranger.call({ op: 'answers', cell: { ...cell, page, cursors } });
    if (!checkPages(truth, NONE, page, LIMIT, answers).exact) throw new Error('page 20 is not exact');
    const facts = { suite: 'pages', system: card.name, ...factsOf(key) };
    const fresh = 'one page in a fresh process, by a cursor from another one';
    session.measurements.push({ ...facts, cell: fresh, page: 1, values: latency(first.wall) });
    const values = { ...latency(deep.wall), times_first_page: pairedRatio([deep.wall], [first.wall]) };
    session.measurements.push({ ...facts, cell: fresh, page: page + 1, values });
  } finally {
    await finder.end();
    await stranger.end();
    await control.end();
  }
}
