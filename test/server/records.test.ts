import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkSchema } from '../../src/schema/index.js';
import { fan, JSON_TYPE, LINES_TYPE, Service } from './service.js';

let service: Service;
let databases = 0;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const fresh = async () => {
  const id = `d${++databases}`;
  await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
  return `/v1/databases/${id}`;
};
const events = (text: string) => {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => {
    const event = JSON.parse(line);
    checkSchema('LineEvent', event);
    return event;
  });
};

describe('a batch', () => {
  test('is stored whole, and again changes nothing', async () => {
    const at = await fresh();
    const first = await service.call('POST', `${at}/records`, { records: fan(3) });
    expect(first.body).toMatchObject({ created: 3, changed: 0, unchanged: 0 });
    const again = await service.call('POST', `${at}/records`, { records: fan(3) });
    expect(again.body).toMatchObject({ created: 0, changed: 0, unchanged: 3 });
    expect(again.body.results.map(({ uuid }: { uuid: string }) => uuid)).toEqual(
      first.body.results.map(({ uuid }: { uuid: string }) => uuid),
    );
  });

  test('is refused whole, with a pointer to the fault', async () => {
    const at = await fresh();
    const records = [...fan(2), { id: 3, data: { name: { x: 1 } }, vector: [1, 0] }];
    const refused = await service.call('POST', `${at}/records`, { records });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_record']);
    expect(refused.body.errors[0].pointer).toBe('/records/2/data/name');
    expect((await service.call('GET', at)).body.records).toBe(0);
  });

  test('needs a body, strict JSON and vectors of the right length', async () => {
    const at = await fresh();
    const post = (body: string) => service.call('POST', `${at}/records`, body, JSON_TYPE);
    expect((await service.call('POST', `${at}/records`)).status).toBe(400);
    expect((await post('{"records":[{"data":{},"data":{},"vector":[1,0]}]}')).status).toBe(400);
    const short = await post('{"records":[{"data":{},"vector":[1]}]}');
    expect([short.status, short.body.errors[0].pointer]).toEqual([400, '/records/0/vector']);
    expect((await post('{"record":[]}')).status).toBe(400);
  });

  test('an id and a uuid of two records are a conflict', async () => {
    const at = await fresh();
    const { body } = await service.call('POST', `${at}/records`, { records: fan(2) });
    const clash = { id: 1, uuid: body.results[1].uuid, data: {}, vector: [1, 0] };
    const refused = await service.call('POST', `${at}/records`, { records: [clash] });
    expect([refused.status, refused.body.code]).toEqual([409, 'identity_conflict']);
  });
});

describe('a stream of lines', () => {
  test('stores the good, names the bad by number, and sums up', async () => {
    const at = await fresh();
    const lines = fan(5).map((record) => JSON.stringify(record));
    lines.splice(1, 0, '{broken', '', '{"id":7,"data":{"a":{}},"vector":[1,0]}');
    const { status, headers, text } = await service.call(
      'POST',
      `${at}/records`,
      lines.join('\n'),
      LINES_TYPE,
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('application/x-ndjson');
    const told = events(text);
    const problems = told.filter(({ type }) => type === 'problem');
    expect(problems.map(({ line }) => line)).toEqual([2, 4]);
    expect(problems[1].pointer).toBe('/data/a');
    expect(told.at(-1)).toMatchObject({ type: 'summary', created: 5, changed: 0, unchanged: 0, failed: 2 });
    expect((await service.call('GET', at)).body.records).toBe(5);
  });

  test('is stored as it arrives, long before its end', async () => {
    const at = await fresh();
    const upload = stream(`${at}/records`);
    const records = fan(2500).map((record) => `${JSON.stringify(record)}\n`);
    upload.write(records.slice(0, 2200).join(''));
    const progress = await upload.next();
    expect(progress.type).toBe('progress');
    expect(progress.committed).toBeGreaterThan(0);
    expect((await service.call('GET', at)).body.records).toBeGreaterThanOrEqual(progress.committed);
    upload.write(records.slice(2200).join(''));
    upload.end();
    let last = progress;
    while (last.type !== 'summary') last = await upload.next();
    expect(last).toMatchObject({ lines: 2500, created: 2500, failed: 0 });
  });

  test('keeps what was committed when the caller goes away', async () => {
    const at = await fresh();
    const upload = stream(`${at}/records`);
    upload.write(
      fan(2500)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    );
    const { committed } = await upload.next();
    upload.destroy();
    const { records } = (await service.call('GET', at)).body;
    expect(records).toBeGreaterThanOrEqual(committed);
  });

  test('to no database is an ordinary 404', async () => {
    const answer = await service.call('POST', '/v1/databases/none/records', '{}\n', LINES_TYPE);
    expect([answer.status, answer.body.code]).toEqual([404, 'database_not_found']);
  });

  test('goes on after a line that is too long', async () => {
    const at = await fresh();
    const [first, last] = fan(2).map((record) => JSON.stringify(record));
    const long = JSON.stringify({ id: 9, data: { text: 'x'.repeat(2 << 20) }, vector: [1, 0] });
    for (const [body, line] of [
      [[first, long, last].join('\n'), 2],
      [[long, first, last, ''].join('\n'), 1],
      [[first, last, long].join('\r\n'), 3],
    ] as const) {
      const answer = await service.call('POST', `${at}/records`, body, {
        'content-type': 'application/x-ndjson',
      });
      const told = events(answer.text);
      expect(told.filter(({ type }) => type === 'problem')).toMatchObject([{ line, code: 'too_large' }]);
      expect(told.at(-1)).toMatchObject({ type: 'summary', lines: 3, failed: 1 });
    }
    expect((await service.call('GET', at)).body.records).toBe(2);
  });

  test('of ten thousand bad lines gets a problem for each line', async () => {
    const at = await fresh();
    const { text } = await service.call('POST', `${at}/records`, '{"data":1}\n'.repeat(10_000), LINES_TYPE);
    const told = events(text);
    expect(told.filter(({ type }) => type === 'problem')).toHaveLength(10_000);
    expect(told.at(-1)).toMatchObject({ type: 'summary', lines: 10_000, failed: 10_000 });
  });
});

describe('deleting', () => {
  test('by either identity, by filter, and by not synced since', async () => {
    const at = await fresh();
    const { body } = await service.call('POST', `${at}/records`, { records: fan(10) });
    const remove = async (request: object) =>
      (await service.call('POST', `${at}/records/delete`, request)).body.deleted;
    expect(await remove({ ids: [1, body.results[1].uuid, 99] })).toBe(2);
    expect(
      await remove({ filter: { rules: [{ column: 'size', operator: 'greater_than', value: 8 }] } }),
    ).toBe(2);
    expect(await remove({ time_range: { end_time: '2020-01-01' } })).toBe(0);
    expect((await service.call('DELETE', `${at}/records/3`)).status).toBe(204);
    expect((await service.call('DELETE', `${at}/records/3`)).status).toBe(404);
    expect(await remove({ time_range: { end_time: '2100-01-01' } })).toBe(5);
    expect((await service.call('GET', at)).body.records).toBe(0);
  });

  test('refuses an id that is none', async () => {
    const at = await fresh();
    const { status, body } = await service.call('POST', `${at}/records/delete`, { ids: [1, 'no-uuid'] });
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe('/ids/1');
  });
});

describe('the change feed', () => {
  test('tells every change in order, resumes anywhere, and forgets none', async () => {
    const at = await fresh();
    await service.call('POST', `${at}/records`, { records: fan(3) });
    await service.call('POST', `${at}/records`, { records: [{ ...fan(3)[0], data: {} }] });
    await service.call('DELETE', `${at}/records/2`);
    const seen: string[] = [];
    let after = 0;
    let more = true;
    while (more) {
      const { body } = await service.call('GET', `${at}/changes?after=${after}&limit=2`);
      seen.push(...body.changes.map(({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`));
      after = body.position;
      more = body.has_more;
    }
    expect(seen).toEqual(['created 1', 'created 2', 'created 3', 'changed 1', 'deleted 2']);
    const { body } = await service.call('GET', `${at}/changes?after=${after}`);
    expect(body).toEqual({ changes: [], position: after, has_more: false, epoch: expect.any(String) });
  });

  test('wakes who waits for it', async () => {
    const at = await fresh();
    const waiting = service.call('GET', `${at}/changes?wait=30`);
    await service.call('POST', `${at}/records`, { records: fan(1) });
    expect((await waiting).body.changes).toHaveLength(1);
  });

  test('lets go of who went away', async () => {
    const at = await fresh();
    const controller = new AbortController();
    const waiting = fetch(`${service.url}${at}/changes?wait=60`, {
      headers: { 'x-api-key': service.adminKey },
      signal: controller.signal,
    }).catch((error: Error) => error.name);
    const waits = async () => {
      const { text } = await service.call('GET', '/metrics');
      return /^cosift_in_flight\{kind="waits"\} (\d+)$/m.exec(text)?.[1];
    };
    while ((await waits()) !== '1');
    controller.abort();
    expect(await waiting).toBe('AbortError');
    while ((await waits()) !== '0');
  });
});

/** An upload whose response is read line by line during the upload. */
function stream(target: string) {
  const request = httpRequest(service.url + target, {
    method: 'POST',
    headers: { 'x-api-key': service.adminKey, ...LINES_TYPE },
  });
  const answer = (async function* () {
    const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    let rest = '';
    for await (const chunk of response) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  })();
  return {
    write: (text: string) => request.write(text),
    end: () => request.end(),
    destroy: () => request.destroy(),
    next: async () => JSON.parse((await answer.next()).value ?? 'null'),
  };
}
