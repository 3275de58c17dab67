import { afterEach, expect, test } from 'vitest';
import { ALL_ZERO, issueKey, Raw, searchAndWrite, streamHead, untilGauges } from './raw.js';
import { LINES_TYPE, Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

const begin = async (timeouts = {}) => {
  const service = await Service.start({}, { timeouts });
  services.push(service);
  for (const id of ['lines', 'other']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
  return service;
};

const line = (id: number) => `${JSON.stringify({ id, data: { n: id }, vector: [1, id] })}\n`;

/** An open stream that has stored record `id`. */
async function open(service: Service, key: string, id: number): Promise<Raw> {
  const stream = new Raw(service);
  stream.socket.write(streamHead(key, 'lines'));
  stream.chunk(line(id));
  await stream.until('"committed":1');
  return stream;
}

const count = async (service: Service) =>
  (await service.call('GET', '/v1/databases/lines')).body.records as number;

test('slow streams of one key leave room for the streams of another, and block no write', async () => {
  const service = await begin();
  const [hostile, other] = await Promise.all([issueKey(service), issueKey(service)]);
  const streams = await Promise.all(Array.from({ length: 12 }, (_, i) => open(service, hostile.key, i + 1)));
  const headers = { 'x-api-key': hostile.key, ...LINES_TYPE };
  const refused = await service.call('POST', '/v1/databases/lines/records', line(99), headers);
  expect([refused.status, refused.body.code]).toEqual([503, 'busy']);

  const mine = { 'x-api-key': other.key };
  expect((await service.call('PUT', '/v1/databases/new', { dimensions: 2 }, mine)).status).toBe(201);
  expect((await service.call('DELETE', '/v1/databases/new', undefined, mine)).status).toBe(204);
  await searchAndWrite(service, other.key, 'other');
  const more = await Promise.all(Array.from({ length: 4 }, (_, i) => open(service, other.key, i + 100)));
  const whole = (key: string, id: number) =>
    service.call('POST', '/v1/databases/lines/records', line(id), { 'x-api-key': key, ...LINES_TYPE });
  const third = await whole((await issueKey(service)).key, 200);
  expect([third.status, third.body.code]).toEqual([503, 'busy']);
  // The admin key has a share of its own.
  expect((await whole(service.adminKey, 201)).status).toBe(200);
  for (const stream of [...streams, ...more]) stream.socket.destroy();
  await untilGauges(service, ALL_ZERO);
  expect(await count(service)).toBe(17);
});

test('a stream stores nothing more once its key is revoked, and says so at once', async () => {
  const service = await begin();
  const { key, key_id } = await issueKey(service);
  const stream = await open(service, key, 1);
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  stream.chunk(line(2));
  // Nothing else is sent: the error comes while the sender is silent and the stream open.
  await stream.until(/\{"type":"error","code":"unauthorized"[^\n]*\}\n/);
  await untilGauges(service, ALL_ZERO);
  expect(await count(service)).toBe(1);
  stream.socket.destroy();
});

test('a stream stores nothing once its key has expired', async () => {
  const service = await begin();
  // Long enough for the stream to begin, however slow the machine is.
  const begun = async (lifeMs: number): Promise<{ stream: Raw; expires_at: string }> => {
    const expires_at = new Date(Date.now() + lifeMs).toISOString();
    const wanted = { name: 'short', actions: ['records.write'], databases: '*', expires_at };
    const { key = '' } = (await service.call('POST', '/v1/keys', wanted)).body;
    const stream = new Raw(service);
    stream.socket.write(streamHead(key, 'lines'));
    stream.chunk(line(1));
    await stream.until(/"committed":1|"code":"unauthorized"/);
    if (stream.received.includes('"committed":1')) return { stream, expires_at };
    stream.socket.destroy();
    return begun(4 * lifeMs);
  };
  const { stream, expires_at } = await begun(1_500);
  let id = 2;
  const sending = setInterval(() => stream.chunk(line(id++)), 100);
  await stream.until('"code":"unauthorized"');
  clearInterval(sending);
  const stored = await count(service);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
  await untilGauges(service, ALL_ZERO);
  expect(await count(service)).toBe(stored);
  stream.socket.destroy();
});

test('a stream does not continue in a new database with the same id', async () => {
  const service = await begin();
  const stream = await open(service, service.adminKey, 1);
  expect((await service.call('DELETE', '/v1/databases/lines')).status).toBe(204);
  expect((await service.call('PUT', '/v1/databases/lines', { dimensions: 2 })).status).toBe(201);
  stream.chunk(line(2));
  await stream.until('"code":"database_not_found"');
  expect(await count(service)).toBe(0);
  stream.socket.destroy();
});

test('a wait for changes tells nothing to a key that was revoked meanwhile', async () => {
  const service = await begin();
  const { key, key_id } = await issueKey(service, ['records.read']);
  const waiting = service.call('GET', '/v1/databases/lines/changes?wait=60', undefined, { 'x-api-key': key });
  await untilGauges(service, { 'in_flight waits': 1 });
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  await service.call('POST', '/v1/databases/lines/records', line(1), LINES_TYPE);
  const answer = await waiting;
  expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
});

test('a stream ends when no line is completed for too long, however many bytes arrive', async () => {
  const service = await begin({ bodyMs: 1_000 });
  const begun = await open(service, service.adminKey, 1);
  const before = new Raw(service);
  before.socket.write(streamHead(service.adminKey, 'lines'));
  const dripping = setInterval(() => {
    for (const stream of [begun, before]) if (stream.socket.writable) stream.chunk('x');
  }, 50);
  await begun.until(/\{"type":"error","code":"request_timeout","detail":"no complete line[^\n]*\}\n/);
  await before.until(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  clearInterval(dripping);
  await untilGauges(service, ALL_ZERO);
  for (const stream of [begun, before]) stream.socket.destroy();
});

/** Sends eight lines in two parts each, with a pause of a tenth of `bodyMs` after each part. */
async function sendSlowly(bodyMs: number): Promise<string> {
  const service = await begin({ bodyMs });
  const stream = new Raw(service);
  stream.socket.write(streamHead(service.adminKey, 'lines'));
  let longestMs = 0;
  for (let id = 1; id <= 8; id += 1) {
    const start = performance.now();
    for (const part of [line(id).slice(0, 5), line(id).slice(5)]) {
      stream.chunk(part);
      await new Promise((resolve) => setTimeout(resolve, bodyMs / 10));
    }
    longestMs = Math.max(longestMs, performance.now() - start);
  }
  stream.socket.write('0\r\n\r\n');
  await stream.until(/"type":"summary".*\n|"code":"request_timeout"/);
  stream.socket.destroy();
  // A machine that pauses may not send a line in the time there is.
  return longestMs > bodyMs / 2 ? sendSlowly(4 * bodyMs) : stream.received;
}

test('lines that come slowly, but come, are all stored', async () => {
  // Each takes a part of the time there is, and together they take more.
  expect(await sendSlowly(1_000)).toContain('"type":"summary","lines":8,"created":8');
});
