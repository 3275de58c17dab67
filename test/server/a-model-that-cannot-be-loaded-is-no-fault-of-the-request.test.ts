import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describe as toText } from '../../src/cli/failure.js';
import { resolveConfig } from '../../src/config/index.js';
import { CosiftError } from '../../src/errors.js';
import { start } from '../../src/server/main.js';
import { firstTokenModel } from '../helpers/model-variant.js';

const root = mkdtempSync(path.join(tmpdir(), 'cosift-unloadable-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('what needs it gets 503 without a path of the service, everything else is served', async () => {
  const mine = firstTokenModel(path.join(root, 'mine'));
  const { config } = resolveConfig(
    { port: 0, data: path.join(root, 'data'), logLevel: 'silent', models: { mine } },
    {},
  );
  const begin = async () => {
    const { url, admin, databases, close } = await start(config, { print: () => undefined });
    const call = async (method: string, target: string, payload: object) => {
      const response = await fetch(`${url}/v1/databases/db${target}`, {
        method,
        headers: { 'x-api-key': String(admin.key), 'content-type': 'application/json' },
        body: JSON.stringify(payload),
      });
      return { status: response.status, text: await response.text() };
    };
    return { call, databases, close };
  };
  const search = { search: { text: 'a tower' } };
  const record = (text: string) => ({ records: [{ id: 1, data: { text } }] });
  const first = await begin();
  await first.call('PUT', '', { model: 'mine' });
  expect((await first.call('POST', '/records', record('a tower'))).status).toBe(200);
  await first.close();

  const graph = path.join(mine, 'onnx/model_quantized.onnx');
  renameSync(graph, `${graph}.away`);
  const second = await begin();
  for (const [method, target, payload] of [
    ['POST', '/search', search],
    ['POST', '/records', record('another')],
    ['PATCH', '/records/1', { data: { text: 'another' } }],
  ] as const) {
    const { status, text } = await second.call(method, target, payload);
    expect([status, JSON.parse(text).code]).toEqual([503, 'not_ready']);
    expect(text).toContain(
      'model \\"mine\\" of database \\"db\\" cannot be loaded; `cosift model verify mine` says why',
    );
    expect(text).not.toContain(root);
  }
  expect((await second.call('POST', '/query', {})).status).toBe(200);
  // A patch that keeps the text needs no model.
  expect((await second.call('PATCH', '/records/1', { data: { n: 1 } })).status).toBe(200);
  // Who works on the directory reads the cause.
  const error = await second.databases.reader
    .search('db', search, { form: 'integer' })
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(CosiftError);
  expect(toText(error)).toContain(mine);
  await second.close();
});
