import { setTimeout as pause } from 'node:timers/promises';
import { type DatasetKey, openDataset } from '../data/dataset.js';
import { inTemporaryDirectory } from '../paths.js';
import { Cosift } from '../peers/adapters/cosift.js';
import { latency } from '../report/statistics.js';
import { batchesOf, changedCopy, searches, upserts } from './paced-upserts.js';
import { factsOf, type Session, type Suite } from './session.js';

/** Durable writes alone, and concurrent with searches. */
export const WRITES: Suite = {
  name: 'writes',
  about: 'durable upserts a second with given vectors; search latency idle and during 5,000 upserts a second',
  async run(session) {
    for (const key of session.deep) {
      session.say(`writes: ${key.records} records`);
      await inTemporaryDirectory((directory) => writes(session, key, directory));
    }
  },
};

async function writes(session: Session, key: DatasetKey, directory: string): Promise<void> {
  const dataset = openDataset(key);
  const engine = new Cosift(2);
  const facts = { suite: 'writes', system: 'cosift', ...factsOf(key) };
  try {
    const begun = performance.now();
    await engine.load(dataset, directory);
    const seconds = (performance.now() - begun) / 1_000;
    session.measurements.push({
      ...facts,
      cell: 'upserts in commits of 4,000',
      values: { per_second: key.records / seconds },
    });
    await engine.settle();
    const ms = session.full ? 6_000 : 2_000;
    const idle = await searches(engine, dataset, pause(ms));
    session.measurements.push({ ...facts, cell: 'search, idle', values: latency(idle) });
    const changed = changedCopy(dataset);
    const batches = batchesOf(changed, ms);
    let written = 0;
    const busy = await searches(
      engine,
      dataset,
      upserts(engine, changed, batches, ms).then((count) => {
        written = count;
      }),
    );
    session.measurements.push({
      ...facts,
      cell: `search beside ${Math.round(written / (ms / 1_000)).toLocaleString('en')} upserts a second`,
      values: latency(busy),
    });
  } finally {
    await engine.close();
  }
}
