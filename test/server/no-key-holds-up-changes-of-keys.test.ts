import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { CosiftError } from '../../src/errors.js';
import type { FilterGroup, KeyRequest } from '../../src/schema/index.js';
import { ADMIN, type Caller } from '../../src/server/keys/caller.js';
import { openFileKeys } from '../../src/server/keys/key-file.js';
import type { KeyStore } from '../../src/server/keys/key-store.js';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

const begin = async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-keys-'));
  directories.push(directory);
  return openFileKeys(directory, 'the-admin-key-of-this-test');
};

const REQUEST: KeyRequest = { name: 'k', actions: ['search'], databases: ['one'] };

const manager = async (store: KeyStore, issuer = ADMIN): Promise<{ id: string; caller: Caller }> => {
  const { key, key_id: id } = await store.issue({ ...REQUEST, actions: ['search', 'keys.manage'] }, issuer);
  return { id, caller: (await store.authenticate(key)) as Caller };
};

/** What became of each call, in the order in which they ended. */
const outcomes = (calls: Promise<unknown>[]) => {
  const ended: string[] = [];
  const all = calls.map((call) =>
    call.then(
      () => ended.push('issued'),
      (error: CosiftError) => ended.push(error.code),
    ),
  );
  return { ended, done: Promise.all(all) };
};

test('a key that issues many keys does not put off its revocation', async () => {
  const store = await begin();
  const { id, caller } = await manager(store);
  const { ended, done } = outcomes(Array.from({ length: 40 }, () => store.issue(REQUEST, caller)));
  await store.revoke(id, ADMIN);
  await done;
  // The change in progress, and one that may have been next.
  expect(ended.filter((outcome) => outcome === 'issued').length).toBeLessThan(3);
  expect(ended.filter((outcome) => outcome === 'unauthorized').length).toBeGreaterThan(37);
});

test('a key whose changes fill its queue does not keep the key that issued it from revoking it', async () => {
  const store = await begin();
  const issuer = await manager(store);
  const { id, caller } = await manager(store, issuer.caller);
  const { ended, done } = outcomes(Array.from({ length: 80 }, () => store.issue(REQUEST, caller)));
  await store.revoke(id, issuer.caller);
  await done;
  expect(ended.filter((outcome) => outcome === 'busy')).toHaveLength(15);
  expect(ended.filter((outcome) => outcome === 'issued').length).toBeLessThan(3);
});

test('one key has a limit of changes that wait, and others are served', async () => {
  const store = await begin();
  const { caller } = await manager(store);
  const { ended, done } = outcomes(Array.from({ length: 80 }, () => store.issue(REQUEST, caller)));
  await store.issue(REQUEST, ADMIN);
  await done;
  expect(ended.filter((outcome) => outcome === 'busy')).toHaveLength(15);
  expect(ended.filter((outcome) => outcome === 'issued')).toHaveLength(65);
});

test('the keys that one key issues have a limit of bytes, and expired ones make room', async () => {
  const store = await begin();
  const { caller } = await manager(store);
  const value = 'x'.repeat(10_000);
  const filter: FilterGroup = {
    rules: Array.from({ length: 90 }, () => ({ column: 'c', operator: 'equals', value })),
  };
  const issue = (issuer: Caller, more: object = {}) => store.issue({ ...REQUEST, filter, ...more }, issuer);
  const expires = Date.now() + 3_600_000;
  await issue(caller, { expires_at: new Date(expires).toISOString() });
  for (let i = 0; i < 2; i++) await issue(caller);
  await expect(issue(caller)).rejects.toMatchObject({ code: 'busy' });
  // Other keys still issue keys, up to the limit of all keys.
  await issue(ADMIN);
  await expect(issue(ADMIN)).rejects.toMatchObject({ code: 'busy' });
  await store.issue(REQUEST, caller);
  vi.spyOn(Date, 'now').mockReturnValue(expires + 1);
  await issue(caller);
  vi.restoreAllMocks();
  expect((await store.list(ADMIN)).filter((key) => key.filter !== undefined)).toHaveLength(4);
});
