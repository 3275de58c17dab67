import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchema } from '../../src/schema/index.js';
import { LINES_TYPE, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ limitRecordBytes: '1000' });
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
});
afterAll(() => service.stop());

const LINES: [string, string][] = [
  ['malformed_json', '{"data":{}'],
  ['duplicate_member', '{"data":{"a":1,"a":2},"vector":[1,0]}'],
  ['lone_surrogate', '{"data":{"a":"\\ud800"},"vector":[1,0]}'],
  ['number_out_of_range', '{"data":{"a":1e400},"vector":[1,0]}'],
  ['unknown_member', '{"dta":{},"data":{},"vector":[1,0]}'],
  ['missing_member', '{"vector":[1,0]}'],
  ['wrong_type', '{"data":{"a":{}},"vector":[1,0]}'],
  ['invalid_column', '{"data":{"":1},"vector":[1,0]}'],
  ['invalid_id', '{"id":0,"data":{},"vector":[1,0]}'],
  ['invalid_uuid', '{"uuid":"x","data":{},"vector":[1,0]}'],
  ['invalid_time', '{"timestamps":{"created_at":"x"},"data":{},"vector":[1,0]}'],
  ['invalid_dimensions', '{"data":{},"vector":[1,0,0]}'],
  ['invalid_vector', '{"data":{},"vector":[0,0]}'],
  ['too_large', `{"data":{"a":"${'x'.repeat(2000)}"},"vector":[1,0]}`],
];

test('each kind of bad line has the code of its table row', async () => {
  const body = LINES.map(([, line]) => `${line}\n`).join('');
  const { text } = await service.call('POST', '/v1/databases/fan/records', body, LINES_TYPE);
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const event of events) checkSchema('LineEvent', event);
  const codes = events.filter(({ type }) => type === 'problem').map(({ line, code }) => [line, code]);
  expect(codes).toEqual(LINES.map(([code], i) => [i + 1, code]));
  expect(events.at(-1)).toMatchObject({ type: 'summary', lines: LINES.length, failed: LINES.length });
});

test('so has each problem of a batch', async () => {
  for (const [code, line] of LINES) {
    if (code === 'too_large') continue;
    const answer = await service.call('POST', '/v1/databases/fan/records', `{"records":[${line}]}`, {
      'content-type': 'application/json',
    });
    expect(answer.status).toBe(400);
    checkSchema('Problem', answer.body);
    const found = answer.body.errors.map((error: { code: string }) => error.code);
    expect(found, line).toContain(code);
  }
});
