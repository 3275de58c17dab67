import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';

test('on a running server and on its data directory alike', async () => {
  const data = await temporaryDirectory();
  const { command, url } = await serve(data);
  const server = ['--url', url, '--key', KEY];

  const issued = await cosift('key', 'create', '--name', 'reader', '--actions', 'search', ...server);
  expect(issued.code).toBe(0);
  const key = issued.stdout.trim();
  const [, keyId = ''] = issued.stderr.match(/^key (\w+), shown this once/) ?? [];
  const status = async () => (await fetch(`${url}/v1/keys`, { headers: { 'x-api-key': key } })).status;
  expect(await status()).toBe(403);

  const listed = await cosift('key', 'list', ...server);
  expect(listed.stdout).toContain(keyId);
  expect(listed.stdout).not.toContain(key);

  expect((await cosift('key', 'list', '--data', data)).stdout).toContain(keyId);
  expect(await cosift('key', 'revoke', keyId, ...server)).toMatchObject({ code: 0 });
  expect(await status()).toBe(401);

  // Beside the server, without asking it: what is issued and revoked acts at once.
  const beside = await cosift('key', 'create', '--name', 'beside', '--data', data);
  const besideStatus = async () =>
    (await fetch(`${url}/v1/keys`, { headers: { 'x-api-key': beside.stdout.trim() } })).status;
  expect(await besideStatus()).toBe(403);
  const [, besideId = ''] = beside.stderr.match(/^key (\w+), shown this once/) ?? [];
  expect(await cosift('key', 'revoke', besideId, '--data', data)).toMatchObject({ code: 0 });
  expect(await besideStatus()).toBe(401);

  command.child.kill('SIGTERM');
  await command.ended();
  const offline = await cosift('key', 'create', '--name', 'later', '--data', data);
  const again = await serve(data);
  const answer = await fetch(`${again.url}/v1/keys`, { headers: { 'x-api-key': offline.stdout.trim() } });
  expect(answer.status).toBe(403);
});

test('a revocation takes along what the key has issued where it is asked to', async () => {
  const data = await temporaryDirectory();
  const { url } = await serve(data);
  const create = async (key: string) => {
    const name = ['--name', 'k', '--actions', 'keys.manage'];
    const { stdout, stderr } = await cosift('key', 'create', ...name, '--url', url, '--key', key);
    return { key: stdout.trim(), id: /^key (\w+),/.exec(stderr)?.[1] ?? '' };
  };
  const parent = await create(KEY);
  const child = await create(parent.key);
  const listed = async () => (await cosift('key', 'list', '--data', data)).stdout;
  expect(await listed()).toMatch(new RegExp(`${child.id}.*${parent.id}`));
  expect(await cosift('key', 'revoke', parent.id, '--data', data)).toMatchObject({ code: 0 });
  expect(await listed()).toContain(child.id);
  const revoked = await cosift('key', 'revoke', parent.id, '--descendants', '--url', url, '--key', KEY);
  expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${parent.id} and the keys that it issued\n` });
  expect(await listed()).toContain('no key was issued');
});

test('a misspelt directory or database is reported', async () => {
  const data = await temporaryDirectory();
  const missing = join(data, 'missing');
  const refused = await cosift('key', 'create', '--name', 'k', '--data', missing);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no data directory') });
  expect(existsSync(missing)).toBe(false);
  expect((await cosift('databases', 'create', 'facts', '--data', data)).code).toBe(0);
  const issued = await cosift('key', 'create', '--name', 'k', '--databases', 'facts,fatcs', '--data', data);
  expect(issued.code).toBe(0);
  expect(issued.stderr).toContain('warning: there is no database "fatcs" yet; did you mean "facts"?');
  expect(issued.stderr).not.toContain('"facts" yet');
  const wrong = await cosift('key', 'create', '--name', 'k', '--actions', 'serach', '--data', data);
  expect(wrong.stderr).toBe('cosift: --actions: is "serach"; did you mean "search"?\n');
});

test('a command that needs no model has no option for models', async () => {
  const refused = await cosift('key', 'list', '--models', 'mine=.');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("unknown option '--models'") });
});
