import { openDataset, QUERIES } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { checkPages } from '../oracle/check.js';
import { Truth } from '../oracle/truth.js';
import type { Round } from '../peers/protocol.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency, median } from '../report/statistics.js';
import { factsOf, LIMIT, type Suite } from './session.js';

/** Searches of a batch. */
const SEARCHES = 64;
const COMPARED = 'faiss flat';

/** A batch of searches compared with as many single ones, and with the same batch of an exact peer. The systems take turns. */
export const BATCHES: Suite = {
  name: 'batches',
  about: `${SEARCHES} searches in one call, and one after the other, one thread`,
  peers: true,
  async run(session) {
    for (const key of session.deep) {
      const cell = { filter: NONE, page: 0, limit: LIMIT, queries: SEARCHES };
      const truth = new Truth(openDataset(key), QUERIES, [NONE]);
      const peers: RemotePeer[] = [];
      for (const card of CARDS) {
        const compared = card.name === COMPARED && session.systems.has(COMPARED);
        if (!(card.ours || compared) || card.maxRecords < key.records) continue;
        session.say(`batches: ${card.name}, ${key.records} records`);
        const peer = new RemotePeer(card, 1);
        try {
          await peer.load(key);
          peer.pin(0);
          const pages = await peer.call({ op: 'answers', cell, batched: true });
          if (!checkPages(truth, NONE, 0, LIMIT, pages).exact) throw new Error('not exact');
          peers.push(peer);
        } catch (error) {
          if (card.ours) throw error;
          session.failures.push(`batches, ${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
          await peer.end();
        }
      }
      const rounds = peers.map(() => ({ single: [] as Round[], batch: [] as Round[] }));
      for (let round = 0; round < (session.full ? 9 : 5); round++) {
        for (const [i, peer] of peers.entries()) {
          rounds[i]?.single.push(await peer.call({ op: 'round', cell }));
          rounds[i]?.batch.push(await peer.call({ op: 'round', cell, batched: true }));
        }
      }
      for (const [i, peer] of peers.entries()) {
        const { single, batch } = rounds[i] as (typeof rounds)[number];
        for (const [name, of] of [
          ['single', single],
          ['batch', batch],
        ] as const) {
          session.measurements.push({
            suite: 'batches',
            cell: `${SEARCHES} searches, ${name}`,
            system: peer.card.name,
            ...factsOf(key),
            values: {
              ...latency(of.flatMap(({ wall }) => wall)),
              // A batch has one time for all its searches.
              cpu_mean_ms: median(of.map(({ cpu }) => sum(cpu))) / SEARCHES / 1_000,
              times_single: median(of.map(({ cpu }, at) => sum(cpu) / sum(single[at]?.cpu ?? []))),
              times_ours: median(
                of.map(({ wall }, at) => {
                  const ours = rounds[0]?.[name === 'single' ? 'single' : 'batch'][at];
                  return sum(wall) / sum(ours?.wall ?? []);
                }),
              ),
            },
          });
        }
      }
      for (const peer of peers) await peer.end();
    }
  },
};

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
