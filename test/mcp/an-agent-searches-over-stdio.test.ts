import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { inFull, testInFull } from '../helpers/full.js';
import { Command, cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';
import { Service } from '../server/service.js';
import { Agent, ERAS } from './agent.js';

const root = await mkdtemp(path.join(tmpdir(), 'cosift-agents-'));
afterAll(() => rm(root, { recursive: true }));

beforeAll(async () => {
  const facts = (await readFile('demo/facts.ndjson', 'utf8')).split('\n').slice(0, 20).join('\n');
  const file = path.join(root, 'facts.ndjson');
  await writeFile(file, facts);
  expect((await cosift('import', file, '--database', 'facts', '--data', path.join(root, 'data'))).code).toBe(
    0,
  );
});

/** A data directory with a few facts. */
async function factsDirectory(): Promise<string> {
  const data = await temporaryDirectory();
  await cp(path.join(root, 'data'), data, { recursive: true });
  return data;
}

const TOWER = { database: 'facts', query: 'a tall tower', limit: 1 };
/** A call that finds the latest record; in `npm test` without the model, which each process would load. */
const [FIND, LATEST] = inFull(
  ['search', TOWER] as const,
  ['query', { database: 'facts', limit: 1 }] as const,
);

test.each(inFull(ERAS, [ERAS[1]]))('%s: a directory is opened by the first call', async (era) => {
  const data = await factsDirectory();
  const agent = await Agent.overStdio(['--data', data], era);
  expect(await agent.tools()).toEqual(['list_databases', 'search', 'query', 'get']);
  // Still free.
  expect((await cosift('databases', 'list', '--data', data)).code).toBe(0);
  expect((await agent.call('search', TOWER)).structured.results[0].data.name).toBe('Eiffel Tower');
  expect((await cosift('databases', 'list', '--data', data)).stderr).toContain('in use by process');
  await agent.client.close();
  expect((await cosift('databases', 'list', '--data', data)).code).toBe(0);
});

test('agents and a service work on one directory, whichever of them starts and ends', async () => {
  const data = await factsDirectory();
  const { command } = await serve(data);
  await writeFile(path.join(data, 'admin.key'), KEY);
  const early = await Agent.overStdio(['--data', data, '--allow-write'], ERAS[0]);
  const late = await Agent.overStdio(['--data', data, '--key', KEY]);
  const record = { id: 500, data: { name: 'Tallest of all', description: 'a tower taller than all others' } };
  expect((await early.call('upsert', { database: 'facts', records: [record] })).structured.created).toBe(1);
  const { structured } = await late.call(FIND, LATEST);
  expect(structured.results[0].id).toBe(500);
  expect(await late.tools()).not.toContain('upsert');
  command.child.kill('SIGTERM');
  expect(await command.ended()).toBe(0);
  // Another port.
  const { command: second } = await serve(data);
  for (const agent of [early, late]) {
    expect((await agent.call(FIND, LATEST)).structured.results[0].id).toBe(500);
  }
  second.child.kill('SIGKILL');
  await second.ended();
  // The directory is free, but the key allows nothing without a server.
  expect(await late.call(FIND, LATEST)).toMatchObject({
    isError: true,
    text: expect.stringMatching(/a key limits an agent only at a running server.*cosift serve/),
  });
  expect((await early.call(FIND, LATEST)).structured.results[0].id).toBe(500);
});

const UNCHECKED = [
  ['--key', 'cosift_nonsense'],
  ['--key', KEY],
];

test.each(inFull(UNCHECKED, UNCHECKED.slice(1)))(
  'a key that no server checks opens nothing: %s %s',
  async (...key) => {
    const data = await factsDirectory();
    const agent = await Agent.overStdio(['--data', data, ...key]);
    for (const tool of ['list_databases', 'search']) {
      const { isError, text } = await agent.call(tool, tool === 'search' ? TOWER : {});
      expect([isError, text]).toEqual([true, expect.stringContaining('a key limits an agent only at')]);
    }
    expect((await cosift('databases', 'list', '--data', data)).code).toBe(0);
  },
);

testInFull(
  'the admin key of a directory is for the address in the directory, whatever host it has',
  async () => {
    const data = await factsDirectory();
    await writeFile(path.join(data, 'admin.key'), KEY);
    const holder = await Agent.overStdio(['--data', data]);
    await holder.call('search', TOWER);
    await writeFile(path.join(data, 'address'), 'http://cosift.invalid:9\n');
    const agent = await Agent.overStdio(['--data', data]);
    expect((await agent.call('search', TOWER)).text).toContain('http://cosift.invalid:9 cannot be reached');
  },
);

testInFull('a read during which the server ends is repeated, and a write is not', async () => {
  const data = await factsDirectory();
  await writeFile(path.join(data, 'admin.key'), KEY);
  const holder = await Agent.overStdio(['--data', data]);
  await holder.call('search', TOWER);
  let requests = 0;
  const server = createServer(async ({ url, socket }) => {
    requests++;
    if (url?.endsWith('/search')) await holder.client.close();
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await writeFile(path.join(data, 'address'), `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  const agent = await Agent.overStdio(['--data', data, '--allow-write']);
  const records = [{ data: { name: 'another' } }];
  const { isError, text } = await agent.call('upsert', { database: 'facts', records });
  expect([isError, text]).toEqual([true, expect.stringContaining('may have been carried out')]);
  expect(requests).toBe(1);
  expect((await agent.call('search', TOWER)).structured.results).toHaveLength(1);
  expect(requests).toBe(2);
});

testInFull('the address of a service that was killed leads nowhere', async () => {
  const data = await factsDirectory();
  const { command } = await serve(data);
  command.child.kill('SIGKILL');
  await command.ended();
  expect(await readdir(data)).toContain('address');
  expect((await cosift('doctor', '--data', data)).stdout).not.toContain('address');
  const holder = await Agent.overStdio(['--data', data]);
  expect((await holder.call('search', TOWER)).structured.results).toHaveLength(1);
  expect(await readdir(data)).not.toContain('address');
});

/** A service with a database `facts` of a record. */
async function elsewhere(): Promise<Service> {
  const service = await Service.start();
  onTestFinished(() => service.stop());
  await service.call('PUT', '/v1/databases/facts', { dimensions: 2 });
  await service.call('POST', '/v1/databases/facts/records', { records: [{ data: {}, vector: [1, 0] }] });
  return service;
}

test('a service elsewhere is reached by its address, within its key', async () => {
  const { url, adminKey } = await elsewhere();
  const agent = await Agent.overStdio(['--url', url, '--key', adminKey]);
  expect((await agent.call('list_databases', {})).structured.databases[0].records).toBe(1);
  const stranger = await Agent.overStdio(['--url', url, '--key', 'cosift_nonsense']);
  const { isError, text } = await stranger.call('search', TOWER);
  expect([isError, text]).toEqual([true, expect.stringContaining('another key')]);
});

/** The tools of an agent at `place` with a key that may search, of the service at `url`. */
async function toolsOfSearching(place: string[], url: string, adminKey: string): Promise<string[]> {
  const created = await cosift(
    ...['key', 'create', '--name', 'a', '--actions', 'search', '--url', url, '--key', adminKey],
  );
  const agent = await Agent.overStdio([...place, '--key', created.stdout.trim(), '--allow-write']);
  return await agent.tools();
}

const SEARCHING = ['list_databases', 'search', 'query'];

test('the tools are those that the key may use', async () => {
  const { url, adminKey } = await elsewhere();
  expect(await toolsOfSearching(['--url', url], url, adminKey)).toEqual(SEARCHING);
});

testInFull('the tools are those that the key may use at the server of a directory', async () => {
  const data = await factsDirectory();
  const { url } = await serve(data);
  expect(await toolsOfSearching(['--data', data], url, KEY)).toEqual(SEARCHING);
});

test('a directory that another program has open is refused with what helps', async () => {
  const data = await factsDirectory();
  const holder = await Agent.overStdio(['--data', data]);
  await holder.call(FIND, LATEST);
  const agent = await Agent.overStdio(['--data', data]);
  expect((await agent.call(FIND, LATEST)).text).toMatch(/in use by process \d+.*cosift serve/);
  await holder.client.close();
  expect((await agent.call(FIND, LATEST)).structured.results).toHaveLength(1);
});

test('a directory that is missing is not made', async () => {
  const data = path.join(await temporaryDirectory(), 'none');
  const agent = await Agent.overStdio(['--data', data]);
  expect((await agent.call('search', TOWER)).text).toContain(`there is no data directory ${data}`);
});

const LIST = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`;

test.each(inFull(['SIGTERM', 'end of input'], ['end of input']))(
  '%s ends it with exit code 0, and its output is JSON-RPC',
  async (how) => {
    const data = await factsDirectory();
    const command = new Command(['mcp', '--data', data]);
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: FIND, arguments: LATEST },
    };
    command.child.stdin.write(`${LIST}${JSON.stringify(call)}\nno json\n`);
    await command.waitFor('stdout', /"id":2/);
    if (how === 'SIGTERM') command.child.kill('SIGTERM');
    else command.child.stdin.end();
    expect(await command.ended()).toBe(0);
    const messages = command.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(messages.map(({ jsonrpc, id }) => `${jsonrpc} ${id}`).sort()).toEqual([
      '2.0 1',
      '2.0 2',
      '2.0 null',
    ]);
    expect((await cosift('databases', 'list', '--data', data)).code).toBe(0);
  },
);

/** Runs `cosift mcp` on an input, and returns its exit code and its messages. */
async function answersTo(input: string): Promise<{ code: unknown; messages: Record<string, unknown>[] }> {
  const data = await factsDirectory();
  const command = new Command(['mcp', '--data', data]);
  command.child.stdin.end(input);
  const code = await command.ended();
  const lines = command.stdout.split('\n').filter((line) => line !== '');
  return { code, messages: lines.map((line) => JSON.parse(line)) };
}

test('a line that is no message gets an error, however long it is', async () => {
  const long = JSON.stringify({
    jsonrpc: '2.0',
    id: 8,
    method: 'ping',
    params: { x: 'x'.repeat(11_000_000) },
  });
  const lines = [
    '{"jsonrpc":',
    '[]',
    '{"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"1.0","id":"a","method":"ping"}',
    '',
    long,
  ];
  const { code, messages } = await answersTo(`${lines.join('\n')}\n${LIST}`);
  expect(code).toBe(0);
  const failed = messages.filter(({ error }) => error !== undefined);
  expect(failed.map(({ id, error }) => [id, (error as { code: number }).code])).toEqual([
    [null, -32_700],
    [null, -32_600],
    [7, -32_600],
    ['a', -32_600],
    [null, -32_600],
  ]);
  expect(messages.at(-1)).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
});

test('the calls in flight at the end of the input are answered', async () => {
  const calls = Array.from({ length: 5 }, (_, at) => {
    const params = inFull(
      { name: 'search', arguments: { ...TOWER, query: `tower ${at}` } },
      { name: FIND, arguments: { ...LATEST, limit: 1 + at } },
    );
    return JSON.stringify({ jsonrpc: '2.0', id: at + 2, method: 'tools/call', params });
  });
  // The last line has no end.
  const { code, messages } = await answersTo(`${LIST}${calls.join('\n')}`);
  expect(code).toBe(0);
  expect(messages.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  for (const { result } of messages) expect(result).toBeDefined();
});
