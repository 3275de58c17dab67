import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { withAbortAndTimeout } from '../../src/server/admission/deadlines.js';

type Call = (signal: AbortSignal) => Promise<unknown>;

/** A server whose requests run the next call of `calls` each, and the signals of these calls. */
async function listen(calls: Call[]) {
  const app = Fastify();
  onTestFinished(() => app.close());
  const signals: AbortSignal[] = [];
  app.get('/', (request, reply) =>
    withAbortAndTimeout(request, reply, 60_000, async (signal) => {
      signals.push(signal);
      await calls.shift()?.(signal);
      return 'done';
    }),
  );
  await app.listen({ port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const ask = async () => (await fetch(`http://localhost:${port}/`)).text();
  return { signals, port, ask };
}

const quick: Call = async () => undefined;

test('a request does not get the signal of a request whose client went away', async () => {
  const events = new EventEmitter();
  const gone: Call = async (signal) => {
    const aborted = once(signal, 'abort');
    events.emit('begun');
    await aborted;
    events.emit('ended');
    throw new Error('not needed any more');
  };
  const { signals, port, ask } = await listen([gone, quick]);
  const [begun, ended] = [once(events, 'begun'), once(events, 'ended')];
  const client = connect(port, 'localhost');
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await begun;
  client.destroy();
  await ended;
  expect(signals[0]?.reason).toMatchObject({ code: 'stopped' });
  expect(await ask()).toBe('done');
  expect(signals[1]?.aborted).toBe(false);
});

test('requests at the same time have a signal each', async () => {
  const events = new EventEmitter();
  const both = once(events, 'both');
  const { signals, ask } = await listen([() => both, async () => events.emit('both')]);
  expect(await Promise.all([ask(), ask()])).toEqual(['done', 'done']);
  expect(signals[0]).not.toBe(signals[1]);
});

test('a signal is used again after a call that left nothing listening', async () => {
  const { signals, ask } = await listen([quick, quick]);
  expect([await ask(), await ask()]).toEqual(['done', 'done']);
  expect(signals[1]).toBe(signals[0]);
});

test('what a call left listening never hears of a later request', async () => {
  const heard: string[] = [];
  const careless: Call = async (signal) => signal.addEventListener('abort', () => heard.push('abort'));
  const { signals, ask } = await listen([careless, quick]);
  expect([await ask(), await ask()]).toEqual(['done', 'done']);
  expect(signals[1]).not.toBe(signals[0]);
  expect(heard).toEqual([]);
});
