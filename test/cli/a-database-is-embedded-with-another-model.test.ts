import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sql } from '../helpers/doctor/sql.js';
import { inFull, testInFull } from '../helpers/full.js';
import { HeldModel } from '../helpers/held-model.js';
import { Command, cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';

const RECORDS = inFull(900, 300);
/** The records that are stored together. */
const BATCH = 256;
/** Requests until a batch is stored: one that loads the model, 8 of 32 texts, and one of the next batch. */
const REQUESTS = 10;
const TEXT = 'something cold and old';

const recordOf = (id: number) => {
  const subject = ['tower', 'river', 'engine', 'comet', 'falcon', 'violin', 'glacier'][id % 7];
  return { id, data: { text: `the ${subject} of ${['ice', 'gold', 'the old king'][id % 3]}, ${id}` } };
};

interface Filled {
  directory: string;
  data: string;
  model: HeldModel;
  models: string;
}

async function filled(): Promise<Filled> {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const file = join(directory, 'all.ndjson');
  const lines = Array.from({ length: RECORDS }, (_, at) => JSON.stringify(recordOf(at + 1)));
  await writeFile(file, lines.join('\n'));
  expect(await cosift('import', file, '--database', 'd', '--data', data)).toMatchObject({ code: 0 });
  const model = await HeldModel.start();
  return { directory, data, model, models: model.setting };
}

async function get(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url, { headers: { 'x-api-key': KEY } })).json()) as Record<string, unknown>;
}

test('of a data directory; stopped, the same command goes on', async () => {
  const { data, model, models } = await filled();
  const search = async () => {
    const args = ['--database', 'd', '--limit', '20', '--threshold', '0', '--json'];
    const found = await cosift('search', TEXT, ...args, '--data', data, '--models', models);
    expect(found).toMatchObject({ code: 0, stderr: '' });
    return found.stdout;
  };
  const old = await search();
  const args = ['reembed', 'd', '--data', data, '--models', models];
  const unknown = await cosift(...args, '--model', 'frist');
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean "first"?') });
  expect(await cosift(...args)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--model or --cancel'),
  });

  const store = join(data, 'databases/d/records.sqlite');
  const isBegun = () => {
    return sql(store, "SELECT 1 FROM meta WHERE key = 'next_settings'").length > 0;
  };
  const stopped = async () => {
    model.allow(REQUESTS);
    const command = new Command([...args, '--model', 'first']);
    await model.untilWaiting();
    await expect.poll(() => sql(store, 'SELECT id FROM next_records').length).toBe(BATCH);
    command.child.kill('SIGINT');
    expect(await command.ended(), command.stderr).toBe(130);
    expect(command.stderr).toMatch(
      new RegExp(`^stopped: \\d+ of ${RECORDS} records .* Run the same command to go on`),
    );
    model.allow(Number.POSITIVE_INFINITY);
  };
  await stopped();
  expect(await cosift(...args, '--cancel')).toMatchObject({ code: 0 });
  expect(isBegun()).toBe(false);
  await stopped();
  expect(await search()).toBe(old);
  expect(isBegun()).toBe(true);
  const sent = model.requests.length;
  const done = await cosift(...args, '--model', 'first');
  expect(done).toMatchObject({ code: 0, stderr: '' });
  // Without the batch that is stored, but with a text that loads the model.
  expect(model.requests.slice(sent).flat().length).toBeLessThanOrEqual(RECORDS - BATCH + 1);
  expect(done.stdout).toMatch(new RegExp(`^${RECORDS} records of "d" have vectors of first`));
  expect(isBegun()).toBe(false);
  expect(await search()).not.toBe(old);
});

testInFull(
  'of a running server, which goes on when nobody waits, and after being killed at any time',
  async () => {
    const { directory, data, model, models } = await filled();
    const start = () => serve(data, '--models', models);
    let { command, url } = await start();
    model.allow(10);
    const waiting = new Command(['reembed', 'd', '--model', 'first', '--url', url, '--key', KEY]);
    const path = '/v1/databases/d/reembedding';
    await model.untilWaiting();
    waiting.child.kill('SIGINT');
    expect(await waiting.ended()).toBe(130);
    expect(waiting.stderr).toContain('The server goes on');

    const written: number[] = [];
    for (const requests of [5, 8, Number.POSITIVE_INFINITY]) {
      for (;;) {
        const id = 10_000 + written.length;
        const answer = await fetch(`${url}/v1/databases/d/records`, {
          method: 'POST',
          headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
          body: JSON.stringify({ records: [recordOf(id)] }),
        });
        expect(answer.status).toBe(200);
        written.push(id);
        if (model.waiting > 0 || (await get(url + path)).state !== 'running') break;
      }
      command.child.kill('SIGKILL');
      await command.ended();
      model.allow(requests);
      ({ command, url } = await start());
    }
    while ((await get(url + path)).state !== 'done') await otherWork();
    const description = await get(`${url}/v1/databases/d`);
    expect(description).toMatchObject({ model: 'first', records: RECORDS + written.length });
    for (const id of written) {
      expect(await get(`${url}/v1/databases/d/records/${id}`)).toMatchObject({ data: recordOf(id).data });
    }
    // A fresh database of this model has the same pages.
    const all = [...Array.from({ length: RECORDS }, (_, at) => at + 1), ...written].map(recordOf);
    const file = join(directory, 'again.ndjson');
    await writeFile(file, all.map((record) => JSON.stringify(record)).join('\n'));
    const target = ['--url', url, '--key', KEY];
    const created = await fetch(`${url}/v1/databases/fresh`, {
      method: 'PUT',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'first' }),
    });
    expect(created.status).toBe(201);
    expect(await cosift('import', file, '--database', 'fresh', ...target)).toMatchObject({ code: 0 });
    const scores = async (database: string) => {
      const args = ['--database', database, '--limit', '100', '--threshold', '0', '--json', ...target];
      const { results } = JSON.parse((await cosift('search', TEXT, ...args)).stdout);
      return results.map(({ id, relevance_score }: Record<string, number>) => [id, relevance_score]);
    };
    expect(await scores('d')).toEqual(await scores('fresh'));
  },
);
