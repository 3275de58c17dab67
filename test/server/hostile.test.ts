import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fan, JSON_TYPE, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => service.stop());

const SEARCH = '/v1/databases/fan/search';
const post = (body: string | Uint8Array) => service.call('POST', SEARCH, body, JSON_TYPE);
const nested = (depth: number) => `${'{"rules":['.repeat(depth)}${']}'.repeat(depth)}`;

describe('what is not strict JSON', () => {
  test.each([
    ['cut off', '{"search":'],
    ['empty', ' '],
    ['a duplicate key', '{"search":{"vector":[1,0]},"search":{"vector":[1,0]}}'],
    ['a duplicate key under another spelling', '{"search":{"vector":[1,0],"v\\u0065ctor":[1,0]}}'],
    ['a lone surrogate', '{"search":{"text":"\\ud800"}}'],
    ['a number beyond a double', '{"search":{"vector":[1e400,0]}}'],
    ['not a number', '{"search":{"vector":[NaN,0]}}'],
    ['two documents', '{"search":{"vector":[1,0]}}{}'],
    ['a trailing comma', '{"search":{"vector":[1,0]},}'],
    ['60 kB of nesting', `{"search":{"vector":[1,0]},"filter":${nested(5000)}}`],
    ['10 kB of brackets', '['.repeat(10_000)],
  ])('%s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid_json');
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  test('more values than a request may have are refused before they are parsed', async () => {
    const answer = await post('['.repeat(60_000));
    expect([answer.status, answer.body.code]).toEqual([413, 'too_large']);
  });

  test('bytes that are no UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"search":{"text":"'), Buffer.from([0xff]), Buffer.from('"}}')]);
    expect((await post(body)).body.code).toBe('invalid_json');
  });
});

describe('what is JSON, but no search', () => {
  test.each([
    ['null', 'null'],
    ['a filter 33 groups deep', `{"search":{"vector":[1,0]},"filter":${nested(33)}}`],
    ['__proto__', '{"search":{"vector":[1,0]},"__proto__":{"polluted":true}}'],
    ['constructor', '{"search":{"vector":[1,0],"constructor":{"prototype":{}}}}'],
    ['a number as text', '{"search":{"vector":[1,0],"threshold":"0.2"}}'],
    ['a cursor that is a number', '{"search":{"vector":[1,0]},"pagination":{"cursor":1}}'],
    ['a score out of range in a cursor', '{"search":{"vector":[1,0]},"pagination":{"cursor":"1.5_1"}}'],
    ['a cursor of nonsense', '{"search":{"vector":[1,0]},"pagination":{"cursor":"\\u0000"}}'],
    ['an empty cursor', '{"search":{"vector":[1,0]},"pagination":{"cursor":""}}'],
  ])('%s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toMatch(/^invalid_(request|filter|cursor)$/);
  });

  test('a column named __proto__ is a column like any other', async () => {
    await service.call('PUT', '/v1/databases/odd', { dimensions: 1 });
    const record = '{"records":[{"id":1,"data":{"__proto__":"x","constructor":1},"vector":[1]}]}';
    expect((await service.call('POST', '/v1/databases/odd/records', record, JSON_TYPE)).status).toBe(200);
    const filter = { rules: [{ column: '__proto__', operator: 'equals', value: 'x' }] };
    const { text, body } = await service.call('POST', '/v1/databases/odd/query', { filter });
    expect(body.results).toHaveLength(1);
    expect(text).toContain('"data":{"__proto__":"x","constructor":1}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test('a body over its limit is refused before it was read, another media type at all', async () => {
  expect((await post(`{"search":{"text":"${'x'.repeat(1_100_000)}"}}`)).status).toBe(413);
  const xml = await service.call('POST', SEARCH, '<x/>', { 'content-type': 'text/xml' });
  expect([xml.status, xml.body.code]).toEqual([415, 'unsupported_media_type']);
  expect(xml.body.detail).toBe('content-type is "text/xml"; send the body as application/json');
  const lines = await service.call('POST', SEARCH, '{}', { 'content-type': 'application/x-ndjson' });
  expect(lines.status).toBe(415);
  const latin = await service.call('POST', SEARCH, '{}', {
    'content-type': 'application/json; charset=latin1',
  });
  expect([latin.status, latin.body.detail]).toEqual([415, 'the charset is "latin1"; it must be utf-8']);
});

// A connection that is closed on a caller who still sends takes the answer with it.
test('a body over its limit that is sent to its end gets a response, and the connection stays usable', async () => {
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.setEncoding('utf8');
    socket.on('error', reject).on('end', () => resolve(received));
    socket.on('data', (chunk) => {
      received += chunk;
      if (received.includes('alive')) socket.end();
    });
    const head = `POST ${SEARCH} HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.adminKey}\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: 40000000\r\n\r\n`);
    socket.write(' '.repeat(40_000_000));
    socket.write(`${head}content-length: 1\r\n\r\n{`);
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nx-request-id: alive\r\n\r\n');
  });
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['413', '400', '200']);
});

test('two hosts are refused, and every header counts, however many there are', async () => {
  const answerTo = (headers: string) =>
    new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.setEncoding('utf8');
      socket.on('error', reject).on('end', () => resolve(received));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.write(`GET /v1/databases HTTP/1.1\r\nconnection: close\r\n${headers}\r\n`);
    });
  const key = `x-api-key: ${service.adminKey}\r\n`;
  const two = await answerTo(`host: a\r\nHost: a\r\n${key}`);
  expect(two).toMatch(/^HTTP\/1\.1 400 /);
  expect(two).toContain('the header host is given more than once');
  expect(await answerTo(`host: a\r\n${'a:\r\n'.repeat(2_500)}${key}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await answerTo(`host: a\r\n${'abcd:\r\n'.repeat(5_000)}${key}`)).toMatch(/^HTTP\/1\.1 431 /);
});

test('a body that is coded is refused as such', async () => {
  const answer = await service.call('POST', SEARCH, '{"search":{"vector":[1,0]}}', {
    ...JSON_TYPE,
    'content-encoding': 'gzip',
  });
  expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
});

test('an empty time range deletes nothing', async () => {
  const answer = await service.call('POST', '/v1/databases/fan/records/delete', { time_range: {} });
  expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/time_range']);
});

test.each([
  ['GET', '/v1/databases/NOT%20AN%20ID', 400, 'invalid_request'],
  ['GET', `/v1/databases/${'x'.repeat(65)}`, 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/records/0', 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/records/9007199254740992', 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/records/1e3', 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/records/99', 404, 'record_not_found'],
  ['GET', '/v1/databases/none', 404, 'database_not_found'],
  ['GET', '/v1/databases/fan/changes?after=-1', 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/changes?limit=1&limit=2', 400, 'invalid_request'],
  ['GET', '/v1/databases/fan/changes?sinse=1', 400, 'invalid_request'],
  ['GET', '/v1/databases/%ff', 400, 'invalid_request'],
  ['GET', '/v1/nothing', 404, 'not_found'],
  ['POST', '/v1/databases/fan', 405, 'method_not_allowed'],
  ['GET', SEARCH, 405, 'method_not_allowed'],
  ['GET', '/v1/databases/fan/records/search', 405, 'method_not_allowed'],
  ['POST', '/livez', 405, 'method_not_allowed'],
  ['QUERY', '/v1/databases', 405, 'method_not_allowed'],
  ['LOCK', '/v1/databases', 405, 'method_not_allowed'],
])('%s %s answers %i %s', async (method, path, status, code) => {
  const answer = await service.call(method, path);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  if (status === 405) expect(answer.headers.get('allow')).toBeTruthy();
});

test('bytes that are not HTTP get a problem response, too', async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () =>
      socket.write('NONSENSE\r\n\r\n'),
    );
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json/);
  expect(answer).toContain('"code":"invalid_request"');
});
