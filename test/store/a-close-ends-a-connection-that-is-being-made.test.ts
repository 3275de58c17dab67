import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { NodePostgres } from '../../src/store/postgres/index.js';

test('a listener whose server does not answer yet is closed', async () => {
  // It reads, and says nothing until its client leaves.
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const database = new NodePostgres({ url: `postgres://user@127.0.0.1:${port}/database` });
  database.listen('channel', () => undefined);
  const [socket] = await once(server, 'connection');
  await once(socket, 'data');
  expect(await database.close()).toBeUndefined();
});
