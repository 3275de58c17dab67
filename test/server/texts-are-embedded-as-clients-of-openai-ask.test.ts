import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingsServer } from '../helpers/embeddings-server.js';
import { Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const MODEL = 'all-MiniLM-L6-v2';
/** The model knows no token of it. */
const UNKNOWN = '\u{10a00}';
const embed = (body: object, key = service.adminKey) =>
  service.call('POST', '/v1/embeddings', { model: MODEL, ...body }, { 'x-api-key': key });

test('as numbers, or as base64 of the same numbers', async () => {
  const input = ['a tall tower', 'deep water'];
  const { status, body } = await embed({ input });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    object: 'list',
    data: input.map((_, index) => ({ object: 'embedding', index })),
    model: MODEL,
    // [CLS] a tall tower [SEP], [CLS] deep water [SEP]
    usage: { prompt_tokens: 9, total_tokens: 9 },
  });
  const vectors = body.data.map(({ embedding }: { embedding: number[] }) => Float32Array.from(embedding));
  expect(vectors[0]).toHaveLength(384);
  const base64 = await embed({ input, encoding_format: 'base64' });
  const read = base64.body.data.map(({ embedding }: { embedding: string }) => {
    const bytes = Buffer.from(embedding, 'base64');
    return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at));
  });
  expect(read).toEqual(vectors);
  const one = await embed({ input: 'deep water' });
  expect(one.body.data).toEqual([{ ...body.data[1], index: 0 }]);
});

test('a text that is refused is named among those of several slices', async () => {
  const input = Array.from({ length: 64 }, (_, at) => `text ${at}`);
  expect((await embed({ input })).body.data).toHaveLength(64);
  for (const at of [3, 40, 63]) {
    const { status, body } = await embed({ input: input.with(at, UNKNOWN).with(63, UNKNOWN) });
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', `/input/${at}`]);
  }
});

test('a long text is one of a search, or too long for a record', async () => {
  const input = 'deep water '.repeat(300);
  const { status, body } = await embed({ input });
  expect([status, body.data[0].embedding.length]).toEqual([200, 384]);
  expect(body.usage.prompt_tokens).toBeGreaterThan(600);
  const ofRecord = await embed({ input, kind: 'record' });
  expect([ofRecord.status, ofRecord.body.errors[0].code]).toEqual([400, 'value_too_long']);
});

test.each([
  ['a NUL', '\0', 'invalid_value'],
  ['no known word', UNKNOWN, 'invalid_value'],
  ['too many bytes', 'x'.repeat(8_002), 'value_too_long'],
  ['too many passages', '!'.repeat(8_000), 'value_too_long'],
])('a single text with %s is refused as the input', async (_, input, code) => {
  const { status, body } = await embed({ input });
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', '/input']);
  expect(body.errors[0].code).toBe(code);
  const inList = await embed({ input: ['deep water', input] });
  expect(inList.body.errors[0].pointer).toBe('/input/1');
});

test.each<[object, string]>([
  [{}, ''],
  [{ input: [1, 2] }, '/input/0'],
  [{ input: [] }, '/input'],
  [{ input: 'x', encoding_format: 'int8' }, '/encoding_format'],
  [{ input: 'x', model: 'text-embedding-3-small' }, '/model'],
  [{ input: 'x', user: 'me' }, '/user'],
])('%j is refused', async (given, pointer) => {
  const { status, body } = await embed(given);
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', pointer]);
});

test('only for keys that may search', async () => {
  await service.call('PUT', '/v1/databases/some', {});
  const issue = async (action: string) => {
    const key = { name: 'k', actions: [action], databases: ['some'] };
    return (await service.call('POST', '/v1/keys', key)).body.key as string;
  };
  expect((await embed({ input: 'x' }, await issue('search'))).status).toBe(200);
  expect((await embed({ input: 'x' }, await issue('records.read'))).status).toBe(403);
});

test('each text counts as a request', async () => {
  const limited = await Service.start({ rateLimit: 100 });
  try {
    const key = { name: 'k', actions: ['search'], databases: '*' };
    const { body: issued } = await limited.call('POST', '/v1/keys', key);
    const send = (input: string | string[]) =>
      limited.call('POST', '/v1/embeddings', { input }, { 'x-api-key': issued.key });
    const first = await send(Array(40).fill('deep water'));
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit')).toMatch(/;r=60;/);
    expect((await send(Array(64).fill('deep water'))).status).toBe(429);
    expect((await send('deep water')).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('a key for some databases uses and sees the models of these alone', async () => {
  const endpoint = await EmbeddingsServer.start();
  const several = await Service.start({ models: { letters: endpoint.source(), hidden: endpoint.source() } });
  try {
    const issue = async (databases: string[] | '*') =>
      (await several.call('POST', '/v1/keys', { name: 'k', actions: ['search'], databases })).body.key;
    const send = async (key: string, model?: string) => {
      const headers = { 'x-api-key': key };
      const { status, body } = await several.call(
        'POST',
        '/v1/embeddings',
        { input: 'deep water', model },
        headers,
      );
      return status === 200 ? body.model : [status, body.code, body.errors[0].pointer, body.detail];
    };
    const refused = (model: string, usable: string) => {
      const detail = `there is no model "${model}"; the key may use ${usable}`;
      return [400, 'invalid_request', '/model', detail];
    };
    await several.call('PUT', '/v1/databases/endpoint', { model: 'letters' });
    await several.call('PUT', '/v1/databases/vectors', { dimensions: 2 });

    const one = await issue(['endpoint', 'vectors', 'later']);
    expect(await send(one, 'letters')).toBe('letters');
    for (const model of ['hidden', 'unknown']) {
      expect(await send(one, model)).toEqual(refused(model, '"letters"'));
    }
    expect(await send(one)).toEqual(refused(MODEL, '"letters"'));
    await several.call('PUT', '/v1/databases/later', {});
    expect(await send(one)).toBe(MODEL);
    expect(await send(one, 'hidden')).toEqual(refused('hidden', `"${MODEL}", "letters"`));
    await several.call('DELETE', '/v1/databases/later');
    expect(await send(one)).toEqual(refused(MODEL, '"letters"'));

    expect(await send(await issue(['vectors']), 'letters')).toEqual(refused('letters', 'no model'));
    const all = await issue('*');
    for (const model of [MODEL, 'letters', 'hidden']) expect(await send(all, model)).toBe(model);
  } finally {
    await several.stop();
    await endpoint.stop();
  }
});
