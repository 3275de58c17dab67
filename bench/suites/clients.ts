import { NONE } from '../data/filters.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import { latency } from '../report/statistics.js';
import { factsOf, LIMIT, type Suite } from './session.js';

const COMPARED = new Set(['usearch exact', 'usearch HNSW f32', 'usearch HNSW i8', 'zvec flat']);

/** Concurrent clients on all cores. Systems take turns. */
export const CLIENTS: Suite = {
  name: 'clients',
  about: 'queries a second with 1 to 64 clients in one process, all cores',
  peers: true,
  async run(session) {
    const counts = session.full ? [1, 2, 4, 8, 16, 32, 64] : [1, 4, 32];
    const ms = session.full ? 3_000 : 1_000;
    for (const key of session.deep) {
      const peers: RemotePeer[] = [];
      for (const card of CARDS) {
        if (
          card.maxRecords < key.records ||
          !(card.ours || (COMPARED.has(card.name) && session.systems.has(card.name)))
        )
          continue;
        session.say(`clients: ${card.name}, ${key.records} records`);
        const peer = new RemotePeer(card, 2);
        try {
          await peer.load(key);
          peers.push(peer);
        } catch (error) {
          session.failures.push(`clients, ${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
          await peer.end();
        }
      }
      const cell = { filter: NONE, page: 0, limit: LIMIT, queries: 64 };
      for (const clients of counts) {
        for (const peer of peers) {
          await peer.call({ op: 'clients', cell, clients, ms: ms / 4, batched: false });
          const single = await peer.call({ op: 'clients', cell, clients, ms, batched: false });
          // One call for a batch may be faster or slower than one call per query. The better one counts.
          const batch = await peer.call({ op: 'clients', cell, clients, ms, batched: true });
          const { throughput, wall } = batch.throughput > single.throughput ? batch : single;
          session.measurements.push({
            suite: 'clients',
            cell: NONE.name,
            system: peer.card.name,
            ...factsOf(key),
            clients,
            values: { per_second: throughput, ...latency(wall) },
          });
        }
      }
      for (const peer of peers) await peer.end();
    }
  },
};
