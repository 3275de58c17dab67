// A process that follows the table `items` as `cosift sync run` does, with a fault, until it is killed.
import { openDatabases } from '../../src/databases/index.js';
import { Sync } from '../../src/sync/index.js';
import { PostgresSource } from '../../src/sync/sources/postgres/source.js';

const [, , fault, directory, url] = process.argv;
const source = new PostgresSource(url, { table: 'items', columns: ['value'] });
const databases = await openDatabases({ directory });
const target = databases.writer.openSync('items', 'items');
let round;
const rounds = (change) => ({
  shape: (signal) => source.shape(signal),
  round: async (...request) => {
    round = await source.round(...request);
    return round === null ? null : { ...round, ...change(round) };
  },
  close: () => source.close(),
});
const FAULTS = {
  'the bookmark is stored before the records': {
    source: rounds(() => ({})),
    target: {
      ...target,
      upsert: async function* (chunks, readAt, options) {
        const as_of = round.readAt.toISOString();
        const refused = { count: 0, rows: [] };
        const counts = { records: 0, refused, withheld: 0, incomplete: false };
        const text = JSON.stringify({
          ...counts,
          bookmark: round.bookmark(),
          source: '',
          as_of,
          whole_at: as_of,
        });
        await target.remove({ ids: [], state: { name: 'items', text } }, options);
        yield* target.upsert(chunks, readAt, options);
      },
    },
  },
  'the end of a connection is the end of the rows': {
    source: rounds(({ batches }) => ({
      kind: 'complete',
      batches: (async function* () {
        try {
          yield* batches;
        } catch {
          // All rows, for all that the sync knows.
        }
      })(),
    })),
    target,
  },
  'changes are looked for from the first transaction on that had not begun': {
    source: rounds(({ bookmark }) => ({
      bookmark: () => ({ ...bookmark(), horizon: bookmark().snapshot.split(':')[1] }),
    })),
    target,
  },
};
const faulty = FAULTS[fault];
new Sync(faulty.source, faulty.target, { name: 'items', everyMs: 200, maxDeletes: 1_000_000 });
