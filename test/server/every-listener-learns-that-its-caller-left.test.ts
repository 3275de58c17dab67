import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { onClose } from '../../src/server/http/on-close.js';

const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';

let app: FastifyInstance | undefined;

afterEach(async () => {
  await app?.close();
});

/** A server that passes each request to `handle` and leaves the response to it, and a connection to the server. */
async function connectTo(handle: (request: FastifyRequest, reply: FastifyReply) => void): Promise<Socket> {
  app = Fastify({ forceCloseConnections: true });
  app.get('/', (request, reply) => {
    reply.hijack();
    handle(request, reply);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

test('all listeners of a request are called once, but not one that was removed', async () => {
  const called: string[] = [];
  const events = new EventEmitter();
  const [arrived, left] = [once(events, 'arrived'), once(events, 'left')];
  const socket = await connectTo((request, reply) => {
    onClose(request, reply, () => called.push('first'));
    const remove = onClose(request, reply, () => called.push('removed'));
    onClose(request, reply, () => {
      called.push('last');
      events.emit('left');
    });
    remove();
    events.emit('arrived');
  });
  socket.write(GET);
  await arrived;
  expect(called).toEqual([]);
  socket.destroy();
  await left;
  expect(called).toEqual(['first', 'last']);
});

test('the end of a response calls its listeners, and the end of the connection calls none of them again', async () => {
  let calls = 0;
  const events = new EventEmitter();
  const [ended, closed] = [once(events, 'ended'), once(events, 'closed')];
  const socket = await connectTo((request, reply) => {
    onClose(request, reply, () => {
      calls += 1;
      events.emit('ended');
    });
    request.raw.socket.once('close', () => events.emit('closed'));
    reply.raw.end('answered');
  });
  socket.write(GET);
  await ended;
  socket.destroy();
  await closed;
  expect(calls).toBe(1);
});

test('a request that waits behind another on its connection learns of the end, too', async () => {
  const called = new Set<number>();
  const events = new EventEmitter();
  const [arrived, left] = [once(events, 'arrived'), once(events, 'left')];
  let requests = 0;
  const socket = await connectTo((request, reply) => {
    const number = ++requests;
    onClose(request, reply, () => {
      called.add(number);
      if (called.size === 2) events.emit('left');
    });
    if (number === 2) events.emit('arrived');
  });
  socket.write(GET + GET);
  await arrived;
  socket.destroy();
  await left;
});

test('a listener of a response that is closed already is called soon', async () => {
  const events = new EventEmitter();
  const called = once(events, 'called');
  const socket = await connectTo((request, reply) => {
    reply.raw.once('close', () => onClose(request, reply, () => events.emit('called')));
    reply.raw.end();
  });
  socket.write(GET);
  await called;
  socket.destroy();
});
