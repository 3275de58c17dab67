import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { inFull, testInFull } from '../helpers/full.js';
import { KillRun } from '../long-runs/kill-run.js';
import { runMixedLoad } from '../long-runs/mixed-load.js';

describe.skipIf(NO_SERVER !== undefined)(
  `fronts of one PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());

    test('kills of fronts and of the server lose and repeat nothing', async () => {
      const report = await KillRun.run(server, inFull({ fronts: 4, servers: 2 }, { fronts: 1, servers: 1 }));
      expect(report).toMatchObject({ lost: [], wrongDrains: [], wrongPositions: 0 });
      expect(report.acknowledged).toBeGreaterThan(20);
      expect(report.drains).toBeGreaterThan(0);
    });

    testInFull('two fronts under mixed load find what the oracle finds (seed 7)', async () => {
      const report = await runMixedLoad(server, { seconds: inFull(10, 3), operations: 5, seed: 7 });
      expect(report.differences).toEqual([]);
      expect(report.compared).toBeGreaterThan(5);
      expect(report.writes).toBeGreaterThan(5);
    });
  },
);
