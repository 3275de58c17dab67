// A process that writes to a data directory until it is killed. Each of its commits leads to a state that a reader can
// recognise: all records of the database `pairs` are of one round, and each setting has a counterpart.
import { open } from '../../dist/index.js';
import { models } from './models-of-two-angles.mjs';

const [, , directory, seed, count, last] = process.argv;
const records = Number(count);
let round = Number(last);

let state = Number(seed);
/** A number from 0 to `limit` - 1. */
function random(limit) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

const cosift = await open(directory, { models });
const pairs = await cosift.createDatabase('pairs', { dimensions: 2 }).catch(() => cosift.database('pairs'));
const texts = await cosift.createDatabase('texts', { model: 'first' }).catch(() => cosift.database('texts'));
if ((await texts.describe()).records === 0) {
  await texts.upsert(
    Array.from({ length: 20 }, (_, at) => ({ id: at + 1, data: { text: `text ${at + 1}` } })),
  );
}

async function write() {
  round += 1;
  const angle = (round / 1_000) % 1.5;
  const vector = [Math.cos(angle), Math.sin(angle)];
  const batch = Array.from({ length: records }, (_, at) => ({
    id: at + 1,
    data: { round, word: `word${round}`, kind: at % 2 },
    vector,
  }));
  process.send({ began: round });
  await pairs.upsert(batch);
  process.send({ written: round });
}

const STEPS = [
  ...Array.from({ length: 8 }, () => write),
  () => pairs.delete({ filter: { column: 'kind', operator: 'in', value: [0, 1] } }),
  () => pairs.configure({ defaults: { limit: 1 + random(90), threshold: 0 } }),
  async () => {
    const limit = 1 + random(90);
    await pairs.configure({ lexical: random(2) === 1, defaults: { limit, threshold: limit / 1_000 } });
  },
  async () => {
    await cosift.createDatabase(`other-${random(3)}`, { dimensions: 2 });
    await cosift
      .database(`other-${random(3)}`)
      .drop()
      .catch(() => undefined);
  },
  async () => {
    await pairs.drop();
    await cosift.createDatabase('pairs', { dimensions: 2 });
  },
  async () => {
    // One that a killed process left goes on.
    let described = await texts.describe();
    const end = async () => {
      while (described.reembedding !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        described = await texts.describe();
      }
    };
    await end();
    described = await texts.configure({ model: described.model === 'first' ? 'second' : 'first' });
    await end();
  },
];

for (;;) await STEPS[random(STEPS.length)]();
