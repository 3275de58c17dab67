import { openDataset, SEED } from '../../data/dataset.js';
import { inTemporaryDirectory } from '../../paths.js';
import { Cosift } from '../../peers/adapters/cosift.js';
import type { Session, Suite } from '../session.js';
import { CHANGING } from './changing.js';
import type { Cliff, Fixture } from './cliff.js';
import { DESCRIPTIONS } from './descriptions.js';
import { FIRST_BASIS } from './first-basis.js';
import { FIRST_COUNTS } from './first-counts.js';
import { HTTP } from './http.js';
import { LISTINGS } from './listings.js';
import { MANY_DATABASES } from './many-databases.js';
import { MANY_RULES } from './many-rules.js';
import { NEIGHBOURS } from './neighbours.js';
import { STEADY } from './steady.js';
import { TIES } from './ties.js';
import { UNLIKE_QUERIES } from './unlike-queries.js';

/** All cliffs in the order in which they run. */
const ALL: readonly Cliff[] = [
  STEADY,
  UNLIKE_QUERIES,
  FIRST_COUNTS,
  LISTINGS,
  NEIGHBOURS,
  CHANGING,
  DESCRIPTIONS,
  MANY_RULES,
  TIES,
  FIRST_BASIS,
  MANY_DATABASES,
  HTTP,
];

const LARGE = { records: 500_000, dimensions: 384, seed: SEED };
const SMALL = { records: 1_000, dimensions: 384, seed: SEED };

/** Cases off the usual path, compared with the usual case of the same run. The sizes are fixed. */
export const CLIFFS: Suite = {
  name: 'cliffs',
  about: 'cases that once cost 10 to 1,000 times the usual case, compared with it, with the goal of each',
  run: (session) => inTemporaryDirectory((directory) => cliffs(session, directory)),
};

async function cliffs(session: Session, directory: string): Promise<void> {
  const large = new Cosift(2);
  const [largeData, smallData] = [openDataset(LARGE), openDataset(SMALL)];
  try {
    session.say(`cliffs: loading ${LARGE.records} records`);
    await large.load(largeData, directory);
    const small = await large.beside('small', smallData);
    await large.settle();
    const fixture: Fixture = { large, largeData, small, smallData };
    for (const cliff of ALL) {
      session.say(`cliffs: ${cliff.name}`);
      try {
        for (const cell of await cliff.run(fixture))
          session.measurements.push({ suite: 'cliffs', system: 'cosift', ...cell });
      } catch (error) {
        session.failures.push(`cliffs, ${cliff.name}: ${error instanceof Error ? error.message : error}`);
      }
    }
  } finally {
    await large.close();
  }
}
