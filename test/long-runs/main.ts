// Runs that take too long for the tests, on a PostgreSQL server of their own:
//
//   npx tsx test/long-runs/main.ts kills 100 20    kills of fronts, and of the server
//   npx tsx test/long-runs/main.ts load 600        seconds of mixed load at two fronts

import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { KillRun } from './kill-run.js';
import { runMixedLoad } from './mixed-load.js';

if (NO_SERVER !== undefined) throw new Error(NO_SERVER);
const [kind, ...numbers] = process.argv.slice(2);
const [first = 1, second = 0] = numbers.map(Number);
const server = await PostgresServer.start();
try {
  const report =
    kind === 'kills'
      ? await KillRun.run(server, { fronts: first, servers: second }, (done) => {
          if (done % 10 === 0) console.error(`${done} kills`);
        })
      : await runMixedLoad(server, { seconds: first, operations: 1, seed: 1 });
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
