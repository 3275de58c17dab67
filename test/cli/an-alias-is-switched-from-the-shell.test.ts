import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const ROUNDS = inFull(8, 2);
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };

async function setUp() {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const file = join(directory, 'a.ndjson');
  for (const [id, last] of [
    ['first', 3],
    ['second', 5],
  ] as const) {
    await writeFile(file, lines(1, last));
    await cosift('import', file, '--database', id, '--dimensions', '4', '--data', data);
  }
  return { directory, data, file };
}

test('commands take it in place of the id', async () => {
  const { data, file } = await setUp();
  const run = async (...args: string[]) => await cosift(...args, '--data', data);
  expect((await run('alias', 'list')).stdout).toBe('there is no alias\n');
  expect((await run('alias', 'set', 'current', 'first')).stdout).toBe('"current" names "first"\n');
  expect((await run('databases', 'show', 'current')).stdout).toMatch(/^database +first\n/m);
  expect(
    (await run('import', file, '--database', 'current', '--dimensions', '4', '--dry-run')).stdout,
  ).toContain('would be stored in the database "current" of the directory');
  // Settings that are those of the database.
  const imported = await run('import', file, '--database', 'current', '--dimensions', '4');
  expect(imported.stdout).toContain(': 2 created, 0 changed, 3 unchanged');
  expect((await run('delete', 'current', '--id', '1')).stdout).toBe('deleted 1 record\n');
  await run('alias', 'set', 'current', 'second');
  expect((await run('alias', 'list')).stdout).toMatch(/^alias +database\ncurrent +second\n$/);
  expect(JSON.parse((await run('alias', 'list', '--json')).stdout)).toEqual([
    { name: 'current', database: 'second' },
  ]);
  const refused = await run('databases', 'drop', 'second', '--yes');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the alias "current" names') });
  expect((await run('alias', 'set', 'first', 'second')).stderr).toContain('"first" is the id of a database');
  expect((await run('alias', 'set', 'other', 'secnod')).stderr).toContain('did you mean "second"?');
  expect((await run('alias', 'delete', 'current')).stdout).toBe('deleted the alias "current"\n');
  expect((await run('alias', 'delete', 'current')).stderr).toContain('there is no alias "current"');
});

test('a backup has the aliases, and a restore brings them back', async () => {
  const { directory, data } = await setUp();
  await cosift('alias', 'set', 'current', 'second', '--data', data);
  const [archive, restored] = [join(directory, 'a.tar'), join(directory, 'restored')];
  await cosift('backup', '--output', archive, '--data', data);
  expect(await cosift('restore', archive, '--data', restored)).toMatchObject({ code: 0 });
  const show = await cosift('databases', 'show', 'current', '--data', restored);
  expect(show.stdout).toMatch(/^database +second\n/m);
  expect((await cosift('doctor', '--data', restored)).stdout).toContain('1 aliases');
  await writeFile(
    join(restored, 'aliases.json'),
    (await readFile(join(restored, 'aliases.json'), 'utf8')).replace('second', 'first'),
  );
  expect((await cosift('databases', 'list', '--data', restored)).stderr).toContain('aliases.json is damaged');
});

test('a switch that was acknowledged survives kill -9', async () => {
  const { data } = await setUp();
  let acknowledged = 'first';
  await cosift('alias', 'set', 'current', acknowledged, '--data', data);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { command, url } = await serve(data);
    const other = { first: 'second', second: 'first' } as Record<string, string>;
    let sent = acknowledged;
    for (let count = 0; ; count += 1) {
      sent = other[acknowledged]!;
      const switching = fetch(`${url}/v1/aliases/current`, {
        method: 'PUT',
        headers: HEADERS,
        body: JSON.stringify({ database: sent }),
      });
      // Later each round, and while a switch is in progress.
      if (count === 5 * (round + 1)) {
        command.child.kill('SIGKILL');
        // Whether an answer still comes does not matter.
        switching.catch(() => undefined);
        break;
      }
      const answer = await switching;
      expect(await answer.json()).toEqual({ name: 'current', database: sent });
      acknowledged = sent;
    }
    expect(await command.ended()).toBe('SIGKILL');
    const shown = JSON.parse((await cosift('alias', 'list', '--json', '--data', data)).stdout);
    expect([acknowledged, sent]).toContain(shown[0].database);
    acknowledged = shown[0].database;
  }
});
