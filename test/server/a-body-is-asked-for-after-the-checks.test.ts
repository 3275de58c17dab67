import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueKey, Raw, request } from './raw.js';
import { fan, Service } from './service.js';

let service: Service;
let reader: string;

beforeAll(async () => {
  service = await Service.start({ limitBatchBytes: 10_000, limitRecordBytes: 10_000 });
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  reader = (await issueKey(service, ['search'])).key;
});
afterAll(() => service.stop());

const EXPECT = { expect: '100-continue', 'content-type': 'application/json' };
const RECORDS = '/v1/databases/fan/records';

/** Sends the head of a request. */
function sendHead(key: string, method: string, target: string, headers: Record<string, string>): Raw {
  const raw = new Raw(service);
  raw.socket.write(request(key, method, target, undefined, { ...EXPECT, ...headers }));
  return raw;
}

const SIZED = { 'content-length': '100' };
const REFUSED: {
  what: string;
  status: number;
  key?: string;
  head: [string, string, Record<string, string>];
}[] = [
  { what: 'a wrong key', status: 401, key: 'wrong', head: ['POST', RECORDS, SIZED] },
  { what: 'a key that may not', status: 403, key: 'reader', head: ['POST', RECORDS, SIZED] },
  { what: 'an unknown path', status: 404, head: ['POST', '/v1/nothing', SIZED] },
  { what: 'another method', status: 405, head: ['PATCH', RECORDS, SIZED] },
  { what: 'a long body', status: 413, head: ['POST', RECORDS, { 'content-length': '10001' }] },
  { what: 'another type', status: 415, head: ['POST', RECORDS, { ...SIZED, 'content-type': 'text/csv' }] },
  { what: 'a coding', status: 415, head: ['POST', RECORDS, { ...SIZED, 'content-encoding': 'gzip' }] },
  { what: 'a wrong parameter', status: 400, head: ['POST', `${RECORDS}?x=1`, SIZED] },
  { what: 'no use for a body', status: 400, head: ['DELETE', '/v1/databases/fan', SIZED] },
  { what: 'two hosts', status: 400, head: ['POST', RECORDS, { ...SIZED, host: 'x\r\nhost: y' }] },
];

test.each(REFUSED)(
  '$what is refused with $status, and the body is not asked for',
  async ({ status, key, head }) => {
    const keys: Record<string, string> = { reader };
    const raw = sendHead(key === undefined ? service.adminKey : (keys[key] ?? key), ...head);
    await raw.closed;
    expect(raw.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(raw.received).toMatch(/connection: close/i);
  },
);

test('a body that will be read is asked for, once', async () => {
  const body = JSON.stringify({ records: fan(3) });
  const raw = sendHead(service.adminKey, 'POST', RECORDS, { 'content-length': String(body.length) });
  await raw.until('HTTP/1.1 100 Continue\r\n\r\n');
  raw.socket.write(body);
  await raw.until('"created":3');
  expect(raw.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  // The connection serves further requests.
  raw.socket.write(request(service.adminKey, 'GET', `${RECORDS}/1`));
  await raw.until('"name":"record 1"');
  raw.socket.destroy();
});

test('a stream of records is asked for', async () => {
  const raw = sendHead(service.adminKey, 'POST', RECORDS, {
    'content-type': 'application/x-ndjson',
    'transfer-encoding': 'chunked',
  });
  await raw.until('HTTP/1.1 100 Continue\r\n\r\n');
  raw.chunk('{"id":9,"data":{},"vector":[1,0]}\n');
  await raw.until('"committed":1');
  raw.socket.write('0\r\n\r\n');
  await raw.until('"summary"');
  raw.socket.destroy();
});

test('a stream for a database that does not exist is not asked for', async () => {
  const raw = sendHead(service.adminKey, 'POST', '/v1/databases/none/records', {
    'content-type': 'application/x-ndjson',
    'transfer-encoding': 'chunked',
  });
  await raw.closed;
  expect(raw.received).toMatch(/^HTTP\/1\.1 404 /);
});

test('a body of which a part exceeds the limit is refused as it arrives', async () => {
  const raw = sendHead(service.adminKey, 'POST', RECORDS, { 'transfer-encoding': 'chunked' });
  await raw.until('HTTP/1.1 100 Continue\r\n\r\n');
  raw.chunk(' '.repeat(10_001));
  await raw.until('HTTP/1.1 413');
  raw.socket.destroy();
});
