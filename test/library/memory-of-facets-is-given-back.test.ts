import { readFileSync } from 'node:fs';
import { open } from 'cosift';
import { afterEach, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { cleanUp, temporaryDirectory } from '../helpers/processes.js';

afterEach(cleanUp);

const RECORDS = 75_000;

/** Megabytes of the process that are in no file. */
function usedMegabytes(): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

test.skipIf(process.platform !== 'linux')('memory of facets is given back to the system', async () => {
  const cosift = await open(await temporaryDirectory());
  const database = await cosift.createDatabase('a', { dimensions: 2 });
  function* lines() {
    let text = '';
    for (let id = 1; id <= RECORDS; id++) {
      text += `{"id":${id},"data":{"text":"text ${id}"},"vector":[1,${id}]}\n`;
      if (id % 1_000 !== 0) continue;
      yield text;
      text = '';
    }
  }
  for await (const _ of database.upsertLines(lines()));
  const facets = Array.from({ length: 16 }, () => ({ column: 'text', limit: 1 }));
  const search = (x: number) => database.search({ vector: [x, 1] }, { threshold: 0, limit: 1 });
  const count = (x: number) => database.search({ vector: [x, 1] }, { threshold: 0, limit: 1, facets });
  for (let x = 0; x < 20; x++) await search(x);
  const before = usedMegabytes();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, usedMegabytes());
  }, 2);
  for (let x = 0; x < inFull(6, 2); x++)
    await Promise.all([count(x + 0.25), count(x + 0.5), count(x + 0.75)]);
  clearInterval(timer);

  expect(most - before).toBeGreaterThan(50);
  await expect.poll(() => usedMegabytes() - before).toBeLessThan((most - before) / 2);
  await cosift.close();
});
