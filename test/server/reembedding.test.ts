import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Reembedding } from '../../src/schema/index.js';
import { inFull, testInFull } from '../helpers/full.js';
import { HeldModel } from '../helpers/held-model.js';
import { HIDDEN, smallModel } from '../helpers/small-model.js';
import { at, Service } from './service.js';

const root = mkdtempSync(path.join(tmpdir(), 'cosift-reembedding-'));
afterAll(() => rmSync(root, { recursive: true }));

const models = {
  first: smallModel(path.join(root, 'first')),
  short: smallModel(path.join(root, 'short'), {
    pooling: { word_embedding_dimension: HIDDEN, pooling_mode_cls_token: true },
  }),
};
const PATH = '/v1/databases/db/reembedding';
/** Records of a batch. */
const BATCH = 256;
/** Several batches. */
const RECORDS = inFull(900, 300);
/** Requests to a held model that embed one batch, 32 texts at a time. */
const BATCH_REQUESTS = 8;
/** Requests to a held model that a process has not loaded yet, until it has embedded one batch. */
const FIRST_BATCH_REQUESTS = 1 + BATCH_REQUESTS;
const SUBJECTS = ['a tower', 'a river', 'an engine', 'a comet', 'a falcon', 'a violin', 'a glacier'];
const PLACES = ['in the mountains', 'by the sea', 'in an old town', 'under the ice', 'far from everything'];

/** The small models know the word `red`. */
const text = (i: number) => `${SUBJECTS[i % 7]} ${PLACES[i % 5]}, in red, number ${i}`;
const records = (first: number, count: number, group: string) =>
  Array.from({ length: count }, (_, i) => ({ id: first + i, data: { text: text(first + i), group } }));

const SEARCHES = ['red music', 'a bird of prey', 'something high', 'cold places', 'a machine'].map(
  (text) => ({
    search: { text, threshold: 0 },
    // Not those that are written meanwhile.
    filter: { rules: [{ column: 'group', operator: 'equals', value: 'fixed' }] },
    pagination: { limit: 20 },
  }),
);

async function fill(service: Service, count: number): Promise<void> {
  await service.call('PUT', '/v1/databases/db', {});
  for (let first = 1; first <= count; first += 100) {
    const answer = await service.call('POST', '/v1/databases/db/records', {
      records: records(first, Math.min(100, count + 1 - first), 'fixed'),
    });
    expect(answer.status).toBe(200);
  }
}

async function pages(service: Service): Promise<string[]> {
  const found = [];
  for (const search of SEARCHES) {
    const answer = await service.call('POST', '/v1/databases/db/search', search);
    expect(answer.status, answer.text).toBe(200);
    found.push(answer.text);
  }
  return found;
}

/** Asks until it is as wanted; each answer takes its time. */
async function until(service: Service, wanted: (state: Reembedding) => boolean): Promise<Reembedding[]> {
  const seen: Reembedding[] = [];
  for (;;) {
    const { status, body, text } = await service.call('GET', PATH);
    expect(status, text).toBe(200);
    expect(body.state, text).not.toBe('failed');
    seen.push(body);
    if (wanted(body)) return seen;
  }
}

const isDone = ({ state }: Reembedding) => state === 'done';

/** Stops a service, and waits until the model has seen the end of the requests that it held. */
async function stopHeld(service: Service, model: HeldModel): Promise<void> {
  await service.stop();
  while (model.waiting > 0) await otherWork();
}

test('searches and writes go on, and see the one model or the other, never both', async () => {
  const model = await HeldModel.start();
  const service = await Service.start({ models: { first: model.source } });
  try {
    await fill(service, RECORDS);
    const old = await pages(service);
    model.allow(FIRST_BATCH_REQUESTS);
    const begun = await service.call('POST', PATH, { model: 'first' });
    expect(begun).toMatchObject({
      status: 202,
      body: { model: 'first', from: 'all-MiniLM-L6-v2', state: 'running', records: RECORDS },
    });
    // The batches before the request that waits are stored.
    await model.untilWaiting();

    let last = 10_000;
    const write = async () => {
      const written = records(last, 5, 'late');
      const answers = [
        await service.call('POST', '/v1/databases/db/records', { records: written }),
        await service.call('POST', '/v1/databases/db/records/delete', { ids: [last + 4] }),
      ];
      for (const { status, text } of answers) expect(status, text).toBe(200);
      last += 5;
    };
    for (let round = 0; round < 3; round += 1) {
      await write();
      expect(await pages(service)).toEqual(old);
    }
    const own = { id: 9_999, data: { text: 'a jazz quiz', group: 'late' } };
    const late = await service.call('POST', '/v1/databases/db/records', { records: [own] });
    expect(late.status, late.text).toBe(200);
    const held = await service.call('GET', PATH);
    expect(held.body).toMatchObject({ state: 'running', done: BATCH, records: RECORDS + 3 * 4 + 1 });

    let over = false;
    const searching = async (at: number) => {
      const seen: string[] = [];
      while (!over || seen.at(-1) === old[at]) {
        const answer = await service.call('POST', '/v1/databases/db/search', SEARCHES[at]);
        expect(answer.status, answer.text).toBe(200);
        seen.push(answer.text);
      }
      return seen;
    };
    const writing = async () => {
      while (!over) await write();
    };
    const searches = SEARCHES.map((_, i) => searching(i));
    const writes = writing();
    model.allow(Number.POSITIVE_INFINITY);
    const states = await until(service, isDone);
    over = true;
    const searched = await Promise.all(searches);
    await writes;

    const now = await pages(service);
    for (const [i, seen] of searched.entries()) {
      const change = seen.findIndex((page) => page !== old[i]);
      for (const page of seen.slice(change)) expect(page).toBe(now[i]);
    }
    // A record that is deleted after it got its new vector does not count any more. A write deletes one.
    const deleted = (last - 10_000) / 5;
    let most = 0;
    for (const { done, records } of states) {
      expect(done).toBeGreaterThanOrEqual(most - deleted);
      expect(done).toBeLessThanOrEqual(records);
      most = Math.max(most, done);
    }

    const { body } = await service.call('GET', '/v1/databases/db');
    expect(body).toMatchObject({ model: 'first', records: RECORDS + 1 + ((last - 10_000) / 5) * 4 });
    expect(body).not.toHaveProperty('reembedding');
    // A record that was written meanwhile has a vector of the new model: its own text finds it.
    const near = await service.call('POST', '/v1/databases/db/search', {
      search: { text: `text: ${own.data.text}\ngroup: late`, threshold: 0.999 },
    });
    expect(near.body.results).toMatchObject([{ id: own.id }]);
    const again = await service.call('POST', PATH, { model: 'first' });
    expect(again).toMatchObject({ status: 202, body: { state: 'done', done: body.records } });
    const same = await service.call('POST', '/v1/databases/db/records', {
      records: records(1, 100, 'fixed'),
    });
    expect(same.body.unchanged).toBe(100);
  } finally {
    await service.stop();
  }
});

testInFull('it goes on after a restart, waits where its model is missing, and can be cancelled', async () => {
  const data = path.join(root, 'data');
  const [first, second] = [await HeldModel.start(), await HeldModel.start()];
  const held = { ...models, first: first.source, second: second.source };
  let service = await Service.start({ data, models: held });
  await fill(service, 900);
  const old = await pages(service);
  first.allow(FIRST_BATCH_REQUESTS);
  await service.call('POST', PATH, { model: 'first' });
  const other = await service.call('POST', PATH, { model: 'short' });
  expect(other).toMatchObject({ status: 409, body: { code: 'reembedding_running' } });
  await first.untilWaiting();
  const { body: middle } = await service.call('GET', PATH);
  expect(middle).toMatchObject({ state: 'running', done: BATCH, records: 900 });
  await stopHeld(service, first);

  service = await Service.start({ data });
  expect(await pages(service)).toEqual(old);
  const waiting = await service.call('GET', PATH);
  expect(waiting.body).toMatchObject({ state: 'waiting', problem: { code: 'model_mismatch' } });
  expect(waiting.body).toMatchObject({ started_at: middle.started_at, done: BATCH });
  const described = await service.call('GET', '/v1/databases/db');
  expect(described.body.reembedding).toEqual(waiting.body);
  await service.stop();

  first.allow(FIRST_BATCH_REQUESTS);
  service = await Service.start({ data, models: held });
  await first.untilWaiting();
  expect((await service.call('GET', PATH)).body).toMatchObject({ state: 'running', done: 2 * BATCH });
  first.allow(Number.POSITIVE_INFINITY);
  await until(service, isDone);
  expect(await pages(service)).not.toEqual(old);

  second.allow(FIRST_BATCH_REQUESTS);
  await service.call('POST', PATH, { model: 'second' });
  await second.untilWaiting();
  expect((await service.call('GET', PATH)).body).toMatchObject({ state: 'running', done: BATCH });
  expect((await service.call('DELETE', PATH)).status).toBe(204);
  expect(await service.call('GET', PATH)).toMatchObject({
    status: 404,
    body: { code: 'reembedding_not_found' },
  });
  expect((await service.call('DELETE', PATH)).status).toBe(404);
  expect((await service.call('GET', '/v1/databases/db')).body).toMatchObject({
    model: 'first',
    records: 900,
  });
  await service.call('POST', PATH, { model: 'all-MiniLM-L6-v2' });
  await until(service, isDone);
  expect(await pages(service)).toEqual(old);
  await service.call('POST', PATH, { model: 'second' });
  expect((await service.call('GET', PATH)).body.state).toBe('running');
  expect((await service.call('DELETE', '/v1/databases/db')).status).toBe(204);
  expect((await service.call('GET', PATH)).status).toBe(404);
  await service.stop();
});

test('a re-embedding is known until its database is dropped, also when a drop fails', async () => {
  const model = await HeldModel.start();
  const service = await Service.start({ models: { first: model.source } });
  try {
    await fill(service, 100);
    // The model is loaded, and embeds nothing.
    model.allow(1);
    await service.call('POST', PATH, { model: 'first' });
    // A file at the path to which the directory will be renamed.
    const obstacle = path.join(service.directory, 'databases/.dropped-db');
    writeFileSync(obstacle, '');
    expect((await service.call('DELETE', '/v1/databases/db')).status).toBe(503);
    expect(await service.call('GET', PATH)).toMatchObject({
      status: 200,
      body: { model: 'first', state: 'failed', problem: { code: 'store_failed' } },
    });
    rmSync(obstacle);
    expect((await service.call('DELETE', '/v1/databases/db')).status).toBe(204);
    expect((await service.call('GET', PATH)).body.code).toBe('database_not_found');
  } finally {
    await service.stop();
  }
});

test('another version of a model is refused with the way out, which works', async () => {
  const data = path.join(root, 'versions');
  let service = await Service.start({ data, models: { mine: models.first } });
  await service.call('PUT', '/v1/databases/db', { model: 'mine' });
  await service.call('POST', '/v1/databases/db/records', { records: records(1, 20, 'fixed') });
  await service.stop();

  service = await Service.start({ data, models: { mine: models.short } });
  const refused = await service.call('POST', '/v1/databases/db/search', SEARCHES[0]);
  expect(refused).toMatchObject({ status: 409, body: { code: 'model_mismatch' } });
  expect(refused.body.detail).toContain('cosift reembed db --model mine');
  expect((await service.call('POST', PATH, { model: 'mine' })).status).toBe(202);
  await until(service, isDone);
  expect((await service.call('POST', '/v1/databases/db/search', SEARCHES[0])).status).toBe(200);
  await service.stop();
});

test('a database of own vectors may get a model; what cannot be is refused', async () => {
  const empty = path.join(root, 'empty');
  const service = await Service.start({ models: { ...models, empty } });
  try {
    await service.call('PUT', '/v1/databases/db', { dimensions: 2 });
    const own = records(1, 30, 'fixed').map((record) => ({ ...record, vector: at(record.id / 30) }));
    await service.call('POST', '/v1/databases/db/records', { records: own });
    const misspelt = await service.call('POST', PATH, { model: 'frist' });
    expect(misspelt).toMatchObject({ status: 400, body: { errors: [{ pointer: '/model' }] } });
    expect(misspelt.body.detail).toMatch(/"all-MiniLM-L6-v2", "first".*did you mean "first"/);
    const none = await service.call('POST', PATH, { model: 'empty' });
    expect(none.status).toBe(400);
    expect(none.body.detail).toMatch(/model "empty" cannot be used.*modules\.json/);
    expect((await service.call('POST', PATH, { model: null })).status).toBe(400);
    expect((await service.call('POST', PATH, {})).status).toBe(400);
    expect((await service.call('POST', '/v1/databases/no/reembedding', { model: 'first' })).status).toBe(404);
    const { body: key } = await service.call('POST', '/v1/keys', {
      name: 'writer',
      actions: ['records.write', 'search'],
      databases: '*',
    });
    const asWriter = { 'x-api-key': key.key };
    expect((await service.call('POST', PATH, { model: 'first' }, asWriter)).status).toBe(403);

    const begun = await service.call('POST', PATH, { model: 'first' });
    expect(begun).toMatchObject({ status: 202, body: { from: null } });
    await until(service, isDone);
    expect((await service.call('POST', '/v1/databases/db/search', SEARCHES[0])).body.results).toHaveLength(
      20,
    );
    const same = await service.call('POST', '/v1/databases/db/records', { records: records(1, 30, 'fixed') });
    expect(same.body).toMatchObject({ unchanged: 30 });
  } finally {
    await service.stop();
  }
});
