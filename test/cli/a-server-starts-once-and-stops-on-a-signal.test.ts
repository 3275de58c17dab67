import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EmbeddingsServer } from '../helpers/embeddings-server.js';
import { inFull } from '../helpers/full.js';
import { Command, cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: it stops with exit code 0 and frees its data',
  async (signal) => {
    const data = await temporaryDirectory();
    const { command, url } = await serve(data);
    await command.waitFor('stdout', /\/docs\n/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    command.child.kill(signal);
    expect(await command.ended()).toBe(0);
    expect(command.stdout).toBe(`listening on ${url}\nevery operation is described at ${url}/docs\n`);
    expect(await cosift('databases', 'list', '--data', data)).toMatchObject({ code: 0, stderr: '' });
  },
);

test('a second process is refused the data directory, in one line that helps', async () => {
  const data = await temporaryDirectory();
  const { command } = await serve(data);
  const second = await cosift('serve', '--port', '0', '--data', data);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toMatch(/^cosift: .*in use by process \d+.*\n$/);
  expect(second.stderr).toContain(String(command.child.pid));
});

test('the first start makes an admin key, prints it once and keeps it to its owner', async () => {
  const data = await temporaryDirectory();
  const start = async () => {
    const command = new Command(['serve', '--port', '0', '--data', data]);
    await command.waitFor('stdout', /listening on /);
    command.child.kill('SIGTERM');
    await command.ended();
    return command.stdout;
  };
  const first = await start();
  const key = (await readFile(join(data, 'admin.key'), 'utf8')).trim();
  expect(first).toContain(key);
  expect((await stat(join(data, 'admin.key'))).mode & 0o777).toBe(0o600);
  expect(await start()).not.toContain(key);
});

test('the requests that the demo prints work, in both variants', async () => {
  const data = await temporaryDirectory();
  const command = new Command(['serve', '--demo', '--port', '0', '--data', data]);
  await command.waitFor('stdout', /Ctrl-C stops the server/);
  const key = (await readFile(join(data, 'admin.key'), 'utf8')).trim();
  expect(command.stdout).toContain(`$(cat ${join(data, 'admin.key')})`);
  const requests = [...command.stdout.matchAll(/curl -s (\S+)[\s\S]*?-d '([^']+)'/g)];
  expect(requests).toHaveLength(2);
  const names: string[] = [];
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  for (const [, url = '', body = ''] of requests) {
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    const { results } = (await answer.json()) as { results: { data: { name: string } }[] };
    names.push(...results.map((record) => record.data.name));
  }
  expect(names).toEqual(expect.arrayContaining(['Tokyo Skytree', 'Telephone']));
  // Exact words can be tried in the demo, too.
  const [, url = ''] = requests[0] ?? [];
  const body = JSON.stringify({ search: { text: 'Alexander Graham Bell', lexical: 1 } });
  const answer = await fetch(url, { method: 'POST', headers, body });
  const { results } = (await answer.json()) as { results: { data: { name: string } }[] };
  expect(results[0]?.data.name).toBe('Telephone');

  // Facts of a later version are stored, whatever the settings are by then.
  const changes = JSON.stringify({ lexical: false });
  const database = url.replace(/(\/v1\/databases\/demo).*/, '$1');
  expect((await fetch(database, { method: 'PATCH', headers, body: changes })).status).toBe(200);
  command.child.kill('SIGTERM');
  expect(await command.ended()).toBe(0);
  await writeFile(join(data, 'demo.sha256'), 'an earlier version');
  const again = new Command(['serve', '--demo', '--port', '0', '--data', data]);
  await again.waitFor('stdout', /Ctrl-C stops the server/);
});

test('a setting that is unknown or unusable is one line', async () => {
  expect((await cosift('serve', '--port', '99999')).stderr).toBe(
    'cosift: --port: must be a whole number from 0 to 65535, not "99999"\n',
  );
  const misspelt = new Command(['config'], { COSIFT_PROT: '1' });
  expect(await misspelt.ended()).toBe(1);
  expect(misspelt.stderr).toBe(
    'cosift: environment variable COSIFT_PROT is not known; did you mean COSIFT_PORT?\n',
  );
});

const CODES = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const;

test.each(inFull(CODES, [CODES[1]]))('a second %s ends a stop that waits', async (signal, code) => {
  const endpoint = await EmbeddingsServer.start();
  onTestFinished(() => endpoint.stop());
  const models = ['--models', `mine=${endpoint.source()}`];
  const { command, url } = await serve(await temporaryDirectory(), ...models);
  const send = (method: string, path: string, body: object) =>
    fetch(`${url}/v1/databases/a${path}`, {
      method,
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await send('PUT', '', { model: 'mine' })).status).toBe(201);
  endpoint.always = EmbeddingsServer.silence;
  // The stop waits for this write, which waits for its vector.
  const writing = send('POST', '/records', { records: [{ data: { text: 'a' } }] }).catch(() => undefined);
  await expect.poll(() => endpoint.inFlight).toBe(1);
  command.child.kill(signal);
  // Time for the process to handle the first signal.
  await fetch(url).catch(() => undefined);
  command.child.kill(signal);
  expect(await command.ended()).toBe(code);
  await writing;
});
