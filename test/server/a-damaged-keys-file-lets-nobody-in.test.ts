import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { CosiftError } from '../../src/errors.js';
import { type FileKind, parseChecked } from '../../src/files/checked-file.js';
import { ADMIN } from '../../src/server/keys/caller.js';
import { fileKeys, KEYS_FILE } from '../../src/server/keys/key-file.js';
import type { KeyStore } from '../../src/server/keys/key-store.js';
import { start } from '../../src/server/main.js';
import { WEBHOOKS_FILE } from '../../src/server/webhooks/webhook-file.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const temporary = async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-keys-'));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
};
const filter = {
  rules: [
    { column: 'even', operator: 'equals', value: true },
    { rules: [{ column: 'a', operator: 'is_empty' }] },
  ],
} as const;
const filtered = {
  name: 'website',
  actions: ['search'],
  databases: ['fan'],
  filter,
} as unknown as Parameters<KeyStore['issue']>[0];

/** Parses `file` once for every bit of it, with that bit changed: the share that was refused. */
async function flipEveryBit<Item>(file: string, kind: FileKind<Item>): Promise<number> {
  const sound = await readFile(file);
  const parse = (bytes: Buffer) => parseChecked(file, bytes.toString('utf8'), kind);
  const expected = parse(sound);
  expect(expected.length).toBeGreaterThan(1);
  const wrong: unknown[] = [];
  let refused = 0;
  for (let bit = 0; bit < sound.length * 8; bit++) {
    const flipped = Buffer.from(sound);
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    try {
      const found = parse(flipped);
      if (!isDeepStrictEqual(found, expected)) wrong.push({ bit, found });
    } catch (error) {
      refused += 1;
      const { code, detail } = error as CosiftError;
      if (code !== 'damaged' || !detail.includes(file)) wrong.push({ bit, error });
    }
  }
  expect(wrong).toEqual([]);
  return refused / (sound.length * 8);
}

test('any changed bit of keys.json gives the same keys or an error', async () => {
  const directory = await temporary();
  const keys = fileKeys(directory, 'admin');
  await keys.issue({ ...filtered, expires_at: '2099-01-01' }, ADMIN);
  const manager = await keys.issue(
    { name: 'm', actions: ['keys.manage', 'search'], databases: ['fan', 'two'] },
    ADMIN,
  );
  const caller = await keys.authenticate(manager.key);
  if (caller === undefined) throw new Error('the key is not accepted');
  await keys.issue({ name: 'späť', actions: ['search'], databases: ['two'] }, caller);
  const file = path.join(directory, 'keys.json');
  // A space that becomes another one changes nothing.
  expect(await flipEveryBit(file, KEYS_FILE)).toBeGreaterThan(0.9);
});

test('any changed bit of webhooks.json gives the same webhooks or an error', async () => {
  const service = await Service.start({ webhookAllow: '127.0.0.1' });
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  for (const port of [1, 9]) {
    const url = `http://127.0.0.1:${port}/hook`;
    expect((await service.call('POST', '/v1/databases/fan/webhooks', { url })).status).toBe(201);
  }
  const file = path.join(service.directory, 'webhooks.json');
  expect(await flipEveryBit(file, WEBHOOKS_FILE)).toBeGreaterThan(0.9);
});

test.each([
  ['keys.json', '{"version":2,"checksum":"00","keys":[]}'],
  ['keys.json', '{"version":1,"keys":[{"key_id":"aaaaaaaaaaaa"}]}'],
  ['keys.json', ''],
  ['webhooks.json', '{"version":2,"webhooks":[]}'],
  ['webhooks.json', '{"version":1,"webhooks":[{}]}'],
  ['admin.key', `cosift_${'a'.repeat(12)}_${'b'.repeat(49)}\n`],
])('a service with a damaged %s does not start, and says what to do: %s', async (name, text) => {
  const directory = await temporary();
  await writeFile(path.join(directory, name), text);
  const { config } = resolveConfig({ port: 0, data: directory, logLevel: 'silent' }, {});
  const failure = await start(config, { print: () => undefined }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CosiftError);
  expect((failure as CosiftError).code).toBe('damaged');
  expect((failure as CosiftError).detail).toMatch(
    new RegExp(`^${path.join(directory, name)} is damaged.*: .*remove it`),
  );
});

test('while keys.json is damaged only the admin key is valid; once it is sound again, so are the others', async () => {
  const service = await Service.start();
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(4) });
  const { key, key_id } = (await service.call('POST', '/v1/keys', filtered)).body;
  const search = async (headers: Record<string, string> = {}) =>
    (await service.call('POST', '/v1/databases/fan/search', { search: { vector: [1, 0] } }, headers)).status;
  const file = path.join(service.directory, 'keys.json');
  const sound = await readFile(file, 'utf8');
  expect(await search({ 'x-api-key': key })).toBe(200);
  await writeFile(file, sound.replace('"even"', '"evem"'));
  expect(await search({ 'x-api-key': key })).toBe(500);
  expect(await search()).toBe(200);
  expect((await service.call('GET', '/readyz', undefined, { 'x-api-key': key })).status).toBe(200);
  const refused = await service.call('POST', '/v1/keys', filtered);
  expect([refused.status, refused.body.code]).toEqual([500, 'damaged']);
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(500);
  await writeFile(file, sound);
  expect(await search({ 'x-api-key': key })).toBe(200);
});
