import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';
import { EmbeddingsServer } from '../helpers/embeddings-server.js';

const root = mkdtempSync(path.join(tmpdir(), 'cosift-down-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const KEY = 'sk-very-secret-key-0123456789';

test('searches and writes get 503 with a code of their own, and nothing is half done', async () => {
  const endpoint = await EmbeddingsServer.start();
  process.env.TEST_DOWN_KEY = KEY;
  const source = endpoint.source('&key_env=TEST_DOWN_KEY');
  const resolved = resolveConfig(
    { port: 0, data: path.join(root, 'data'), logLevel: 'silent', models: { mine: source } },
    {},
  );
  const begin = async () => {
    const { url, admin, close } = await start(resolved.config, { print: () => undefined });
    const call = async (method: string, target: string, payload?: object, type = 'application/json') => {
      const response = await fetch(`${url}${target}`, {
        method,
        headers: { 'x-api-key': String(admin.key), ...(payload && { 'content-type': type }) },
        ...(payload && {
          body: type === 'application/json' ? JSON.stringify(payload) : `${JSON.stringify(payload)}\n`,
        }),
      });
      const text = await response.text();
      return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
    };
    return { call, close };
  };
  const records = '/v1/databases/db/records';
  const record = (id: number, text: string) => ({ records: [{ id, data: { text } }] });

  const first = await begin();
  expect((await first.call('PUT', '/v1/databases/db', { model: 'mine' })).status).toBe(201);
  expect((await first.call('POST', records, record(1, 'a tower'))).status).toBe(200);
  expect(endpoint.requests.at(-1)!.headers.authorization).toBe(`Bearer ${KEY}`);

  // A failure that no further attempt would change, so that the test need not wait for the attempts.
  endpoint.always = EmbeddingsServer.status(401, { error: { message: `wrong key ${KEY}` } });
  const failures = async ({ call }: typeof first) => {
    for (const [method, target, payload] of [
      ['POST', '/v1/databases/db/search', { search: { text: 'other' } }],
      ['POST', records, record(2, 'another')],
      ['PATCH', `${records}/1`, { data: { text: 'another' } }],
    ] as const) {
      const { status, text, retryAfter } = await call(method, target, payload);
      expect([status, JSON.parse(text).code, retryAfter]).toEqual([503, 'model_unavailable', '1']);
      // Callers of the service learn neither its key nor its addresses.
      expect(text).not.toMatch(/127\.0\.0\.1|sk-very/);
    }
    const line = await call('POST', records, { id: 3, data: { text: 'a line' } }, 'application/x-ndjson');
    expect(line.text).toContain('"model_unavailable"');
    expect(line.text).not.toMatch(/127\.0\.0\.1|sk-very/);
    const { text } = await call('POST', '/v1/databases/db/query', {});
    expect(JSON.parse(text).results).toMatchObject([{ id: 1, data: { text: 'a tower' } }]);
    expect((await call('GET', '/metrics')).text).not.toMatch(/127\.0\.0\.1|sk-very/);
  };
  await failures(first);
  endpoint.always = EmbeddingsServer.vectors;
  expect((await first.call('POST', records, record(2, 'another'))).status).toBe(200);
  await first.close();

  // A start while the endpoint is down: everything that needs no model is served.
  endpoint.always = EmbeddingsServer.status(401);
  const second = await begin();
  expect((await second.call('DELETE', `${records}/2`)).status).toBe(204);
  await failures(second);
  await second.close();

  for (const { value } of resolved.settings) expect(value).not.toContain(KEY);
  await endpoint.stop();
});
