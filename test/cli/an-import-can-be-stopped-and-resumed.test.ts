import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';
import { inFull } from '../helpers/full.js';
import { Command, cosift, KEY, line, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const ALL = inFull(5_000, 2_000);
const SENT = ALL - 500;

test('into a data directory: what it says is stored is stored, and the same command goes on', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const args = ['--database', 'd', '--dimensions', '4', '--data', data];
  const command = new Command(['import', '-', ...args]);
  // The report of the bad line shows that the import is running. The pipe stays open.
  command.child.stdin.write(`${lines(1, 700)}{}\n${lines(701, SENT)}`);
  await command.waitFor('stderr', /line 701: /);
  command.child.kill('SIGINT');
  expect(await command.ended()).toBe(130);
  const [, stored] = await command.waitFor(
    'stderr',
    /stopped: ([\d,]+) records are stored\. Run the same command/,
  );
  await expectResumed(directory, args, Number(stored?.replaceAll(',', '')));
});

test('into a running server', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const args = ['--database', 'd', '--dimensions', '4', '--url', url, '--key', KEY];
  const command = new Command(['import', '-', ...args]);
  command.child.stdin.write(lines(1, SENT));
  await changesOf(`${url}/v1/databases/d`);
  command.child.kill('SIGINT');
  expect(await command.ended()).toBe(130);
  await command.waitFor('stderr', /stopped: at least [\d,]+ records are stored/);
  await streamsEnded(url);
  const { records } = await get(`${url}/v1/databases/d`);
  await expectResumed(directory, args, records as number);
});

test('a stop before the first batch ends the import with its own reason, and leaves no failure behind', async () => {
  const databases = await openDatabases({ directory: await temporaryDirectory() });
  const unhandled: unknown[] = [];
  const collect = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', collect);
  try {
    await databases.catalog.create('d', { dimensions: 4 });
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    async function* chunks() {
      yield Buffer.from(line(1));
    }
    const events = databases.writer.upsertLines('d', chunks(), { signal: stop.signal });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow('stopped');
    // Node reports rejections without a handler after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', collect);
    await databases.close();
  }
});

async function expectResumed(directory: string, args: string[], stored: number): Promise<void> {
  const file = join(directory, 'all.ndjson');
  await writeFile(file, Array.from({ length: ALL }, (_, at) => line(at + 1)).join(''));
  const resumed = await cosift('import', file, ...args);
  expect(resumed).toMatchObject({ code: 0, stderr: '' });
  const count = (number: number) => number.toLocaleString('en-US');
  expect(resumed.stdout).toContain(`${count(ALL - stored)} created, 0 changed, ${count(stored)} unchanged`);
}

/** A batch that was being committed as the command ended is stored soon after. */
async function streamsEnded(url: string): Promise<void> {
  const metrics = async () => await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': KEY } })).text();
  await expect.poll(metrics).toContain('cosift_in_flight{kind="streams"} 0');
}

async function get(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url, { headers: { 'x-api-key': KEY } });
  return (await answer.json()) as Record<string, unknown>;
}

/** Resolves once the database exists and has a first change. */
async function changesOf(database: string): Promise<void> {
  for (;;) {
    const { changes } = await get(`${database}/changes?after=0&limit=1&wait=10`);
    if (Array.isArray(changes) && changes.length > 0) return;
  }
}
