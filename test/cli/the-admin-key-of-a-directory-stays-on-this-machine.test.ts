import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';
import { inFull, onlyInFull } from '../helpers/full.js';
import { cosift, launch, temporaryDirectory } from '../helpers/processes.js';

const withKey = async (key: string) => {
  const data = path.join(await temporaryDirectory(), 'data');
  await mkdir(data);
  await writeFile(path.join(data, 'admin.key'), `${key}\n`);
  return data;
};

test.each(['http://example.org', 'https://example.org:8443', 'http://192.0.2.1', 'http://0.0.0.0:8080'])(
  'it is not sent to %s',
  async (url) => {
    const data = await withKey('secret-of-the-directory');
    const { code, stderr } = await cosift('key', 'list', '--url', url, '--data', data);
    expect(code).toBe(1);
    expect(stderr).toContain(`no API key for ${new URL(url).hostname}`);
    expect(stderr).toMatch(/--key.*COSIFT_KEY/);
    expect(stderr).not.toContain('secret-of-the-directory');
  },
);

test('it is sent to a server of this machine, by any of its names', async () => {
  const heard: unknown[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers['x-api-key']);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}');
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const data = await withKey('secret-of-the-directory');
  for (const host of ['localhost', '127.0.0.1']) {
    const { code } = await cosift('key', 'list', '--url', `http://${host}:${port}`, '--data', data);
    expect(code).toBe(0);
  }
  expect(heard).toEqual(['secret-of-the-directory', 'secret-of-the-directory']);
  server.close();
});

test('a key that no header takes, and an address that takes no path, are refused and not shown', async () => {
  const url = 'http://127.0.0.1:1';
  const unusable = await cosift('key', 'list', '--url', url, '--key', 'secret\nkey');
  expect([unusable.code, unusable.stderr]).toEqual([
    1,
    'cosift: the API key is not a text of printable ASCII characters without spaces\n',
  ]);
  for (const address of ['ftp://127.0.0.1', 'http://a:secret@127.0.0.1', `${url}/?a=b`]) {
    const { code, stderr } = await cosift('key', 'list', '--url', address, '--key', 'k');
    expect(code).toBe(1);
    expect(stderr).toContain('must be a URL of http or https without credentials, query and fragment');
  }
});

test('a server that is not there is named with host, port and a hint', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const target = ['--url', `http://127.0.0.1:${port}`, '--key', 'k', '--database', 'fan'];
  const file = path.join(await temporaryDirectory(), 'records.ndjson');
  await writeFile(file, '{"data":{}}\n');
  for (const command of [
    ['search', 'a tower', ...target],
    // Its attempts take 15 seconds.
    ...inFull([['import', file, ...target]], []),
  ]) {
    const { code, stderr } = await cosift(...command);
    expect(code).toBe(1);
    expect(stderr).toContain(`the service at http://127.0.0.1:${port} cannot be reached`);
    expect(stderr).toMatch(/cosift serve.*ECONNREFUSED/);
  }
});

// The attempts of one import take 15 seconds, so both imports run at the same time.
test('an import whose connection breaks tells host, port and cause', async (context) => {
  onlyInFull(context);
  await Promise.all(['{"type":"progress","lines":1,"committed":1}\n', '{"type":"progress","li'].map(breaks));
});

async function breaks(sent: string): Promise<void> {
  const server = createServer((request, response) => {
    if (request.method === 'GET')
      return response.end('{"id":"fan","records":0,"model":"m","embed":{},"columns":[]}');
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    return response.write(sent, () => response.socket?.resetAndDestroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const file = path.join(await temporaryDirectory(), 'records.ndjson');
  await writeFile(file, '{"data":{}}\n');
  const url = `http://127.0.0.1:${port}`;
  const { code, stderr } = await launch('import', file, '--database', 'fan', '--url', url, '--key', 'k');
  expect(code, sent).toBe(1);
  expect(stderr, sent).toContain(
    `the service at http://127.0.0.1:${port} cannot be reached: the connection was closed before the response`,
  );
  server.close();
}
