import { openDataset } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { checkDrain } from '../oracle/check.js';
import { DEPTH, Truth } from '../oracle/truth.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency, pairedRatio } from '../report/statistics.js';
import { factsOf, LIMIT, type Suite } from './session.js';

/** One query, which is known to have that many matches. */
const QUERIES = 1;
const ROUNDS = 31;
const PAGES = [0, 19, 99, 999];

/** What a page costs by its depth, and a whole drain. */
export const PAGES_BY_DEPTH: Suite = {
  name: 'pages',
  about: 'one page at several depths, and all pages one after the other, by cursor',
  async run(session) {
    const card = CARDS.find(({ ours }) => ours);
    if (card === undefined) throw new Error('ours is missing');
    for (const key of session.datasets) {
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
      // A page that nobody reaches would be timed as an empty one.
      const reached = PAGES.filter((page) => (page + 1) * LIMIT <= rows);
      const rounds = reached.map((): number[][] => []);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, page] of reached.entries()) {
          const { wall } = await peer.call({
            op: 'round',
            cell: { filter: NONE, page, limit: LIMIT, queries: QUERIES },
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
    }
  },
};
