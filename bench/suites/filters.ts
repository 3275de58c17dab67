import { openDataset } from '../data/dataset.js';
import { keeping, NONE, SELECTIVITIES } from '../data/filters.js';
import { checkPages } from '../oracle/check.js';
import { Truth } from '../oracle/truth.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency, pairedRatio } from '../report/statistics.js';
import { LIMIT, type Suite } from './session.js';

const QUERIES = 16;
const FILTERS = [NONE, ...SELECTIVITIES.map(keeping)];
/** Beside ours, one that evaluates filters and one that gets them ready. */
const BESIDE = new Set(['zvec flat', 'f32 scan (native)']);

/** What a filter costs by how much it keeps; there must be no dip. */
export const FILTER_SWEEP: Suite = {
  name: 'filters',
  about: 'one query, one thread, by the share of the records that a filter keeps',
  async run(session) {
    for (const key of session.datasets) {
      const truth = new Truth(openDataset(key), QUERIES, FILTERS);
      for (const card of CARDS) {
        if (!(card.ours || BESIDE.has(card.name)) || card.maxRecords < key.records) continue;
        session.say(`selectivity sweep: ${card.name}, ${key.records} records`);
        const peer = new RemotePeer(card, 1);
        try {
          await peer.load(key);
          peer.pin(0);
          const rounds = FILTERS.map((): number[][] => []);
          const correct = [];
          for (const filter of FILTERS) {
            const answers = await peer.call({
              op: 'answers',
              cell: { filter, page: 0, limit: LIMIT, queries: QUERIES },
            });
            correct.push(checkPages(truth, filter, 0, LIMIT, answers));
          }
          for (let round = 0; round < (session.full ? 9 : 5); round++) {
            for (const [i, filter] of FILTERS.entries()) {
              const { wall } = await peer.call({
                op: 'round',
                cell: { filter, page: 0, limit: LIMIT, queries: QUERIES },
              });
              rounds[i]?.push(wall);
            }
          }
          for (const [i, filter] of FILTERS.entries()) {
            const found = correct[i];
            session.measurements.push({
              suite: 'filters',
              cell: filter.name,
              system: card.name,
              records: key.records,
              dimensions: key.dimensions,
              ...(i === 0 ? {} : { selectivity: SELECTIVITIES[i - 1] as number }),
              values: {
                ...latency((rounds[i] as number[][]).flat()),
                times_unfiltered: pairedRatio(rounds[i] as number[][], rounds[0] as number[][]),
                ...(found === undefined
                  ? {}
                  : { recall: found.recall, wrong: found.wrong, missing: found.missing }),
              },
            });
          }
        } catch (error) {
          session.failures.push(`filters, ${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
        }
        await peer.end();
      }
    }
  },
};
