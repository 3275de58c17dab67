import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Databases } from '../../src/api/index.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { Service } from '../server/service.js';

let service: Service;
let directory: string;
beforeAll(async () => {
  service = await Service.start();
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-readers-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

const RECORDS = 3_000;
const line = (id: number) => `${JSON.stringify({ id, data: { rank: id }, vector: [1, 0] })}\n`;
const lines = () => Array.from({ length: RECORDS }, (_, i) => line(RECORDS + i + 1));

const iterators: [string, (side: Databases, database: Database) => AsyncIterable<unknown>][] = [
  ['upsertLines', (_, database) => database.upsertLines(lines())],
  ['exportLines', (_, database) => database.exportLines()],
  ['searchAll', (_, database) => database.searchAll({ vector: [1, 0] })],
  ['queryAll', (_, database) => database.queryAll()],
  ['follow', (_, database) => database.follow()],
  ['backup', (side) => side.backup()],
  ['doctor', (side) => side.doctor()],
];

const opened = {
  library: () => open(path.join(directory, 'data')),
  client: async () => new Client({ url: service.url, key: service.adminKey }),
};

describe.each(['library', 'client'] as const)('%s', (kind) => {
  test.each(iterators)('a close ends though %s is read no further', async (_, iterate) => {
    const side = await opened[kind]();
    const database = await side.createDatabase('own', { dimensions: 2 });
    await database.upsert(
      Array.from({ length: RECORDS }, (_, i) => ({ id: i + 1, data: { rank: i }, vector: [1, 0] })),
    );
    const iterator = iterate(side, database)[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    await side.close();

    // What is left ends without a hang.
    const rest = async () => {
      for (let isDone = false; !isDone; ) isDone = (await iterator.next()).done === true;
    };
    const failure = await rest().catch((error) => error);
    if (failure !== undefined) expect(failure).toMatchObject({ code: 'not_ready' });
  });
});

test('a close ends though a source has no end, and keeps what was written', async () => {
  const library = await opened.library();
  const database = await library.createDatabase('endless', { dimensions: 2 });
  function* endless() {
    for (let id = 1; ; id++) yield { id, data: {}, vector: [1, 0] };
  }
  const writing = database.upsert(endless());
  const refused = expect(writing).rejects.toMatchObject({
    code: 'not_ready',
    fields: { committed: expect.any(Number) },
  });
  await library.close();
  await refused;
});

test('a close ends though a service does not respond to those who follow changes', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const client = new Client({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, key: 'k' });
  const followed = client.database('a').follow().next();
  const changes = client.database('a').changes({ waitMs: 60_000 });
  const refused = [followed, changes].map((call) =>
    expect(call).rejects.toMatchObject({ code: 'not_ready' }),
  );
  await client.close();
  await Promise.all(refused);
  silent.closeAllConnections();
  silent.close();
});

test('what a close has committed of lines is reported, and nothing else', async () => {
  const library = await opened.library();
  const database = await library.createDatabase('lines', { dimensions: 2 });
  const iterator = database.upsertLines(lines())[Symbol.asyncIterator]();
  const first = await iterator.next();
  await library.close();
  let last = first.value;
  const rest = async () => {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) last = next.value;
  };
  const failure = await rest().catch((error) => error);
  expect(failure ?? { code: 'not_ready' }).toMatchObject({ code: 'not_ready' });
  const again = await opened.library();
  const { records } = await again.database('lines').describe();
  await again.close();
  const { committed, created } = last as unknown as { committed: number; created: number };
  expect(records).toBe(committed ?? created);
});
