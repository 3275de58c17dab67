import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { open } from '../../src/library/cosift.js';
import { inFull } from '../helpers/full.js';
import { Command, temporaryDirectory } from '../helpers/processes.js';
import { Random } from '../helpers/random.js';

const ROUNDS = inFull(8, 3);
const RECORDS = inFull(20_000, 2_000);

const LONG = { timeout: 1_800_000 };

test(
  'records of the source stay, and the same command again makes the database equal to the source',
  LONG,
  async () => {
    const random = new Random(7);
    const directory = await temporaryDirectory();
    const [file, data] = [join(directory, 'source.ndjson'), join(directory, 'data')];
    const target = ['--database', 'd', '--dimensions', '2', '--data', data];
    const replacement = ['import', file, '--delete-missing', '--max-deletes', String(RECORDS), ...target];
    /** A third of the records, whose content changes from round to round. */
    const sourceOf = (round: number) =>
      Array.from({ length: RECORDS }, (_, at) => at + 1)
        .filter((id) => (id + round) % 3 !== 0)
        .map((id) => ({ id, data: { n: id % 5 === 0 ? round : 0 }, vector: [1, id] }));
    const stored = async () => {
      await using cosift = await open(data);
      const found = new Map<number, unknown>();
      let text = '';
      for await (const chunk of cosift.database('d').exportLines()) text += Buffer.from(chunk).toString();
      for (const line of text.split('\n').filter(Boolean)) {
        const { id, data } = JSON.parse(line);
        found.set(id, data);
      }
      return found;
    };
    const expected = (round: number) => new Map(sourceOf(round).map(({ id, data }) => [id, data]));

    /** Milliseconds that a whole replacement takes on this machine. */
    let whole = 0;
    let killed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const source = sourceOf(round);
      await writeFile(file, source.map((record) => `${JSON.stringify(record)}\n`).join(''));
      if (round > 0) {
        const command = new Command(replacement);
        // The start of the process is a large part of the time, and the kill is to meet what follows.
        await Promise.race([sleep(whole * (0.3 + 0.7 * random.next())), command.ended()]);
        command.child.kill('SIGKILL');
        if ((await command.ended()) === 'SIGKILL') killed += 1;
        const found = await stored();
        const before = expected(round - 1);
        for (const { id, data } of source) {
          // A record that is new in this source may not be written yet, and another one has its old or its new data.
          if (!before.has(id)) continue;
          const there = JSON.stringify(found.get(id));
          const mayBe = [before.get(id), data].map((value) => JSON.stringify(value));
          if (!mayBe.includes(there)) expect.fail(`record ${id} is ${there}, and was to be ${mayBe}`);
        }
      }
      const start = performance.now();
      const again = new Command(replacement);
      expect(await again.ended(), again.stderr).toBe(0);
      whole = performance.now() - start;
      expect(await stored()).toEqual(expected(round));
    }
    if (inFull(true, false)) console.log({ records: RECORDS, rounds: ROUNDS, killed });
    expect(killed).toBeGreaterThan(0);
  },
);
