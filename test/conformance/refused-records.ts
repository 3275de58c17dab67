import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode, ProblemCode } from '../../src/errors.js';
import { type FilterGroup, LIMITS } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { expectRefusal as refused } from './refusal.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

interface Golden {
  name: string;
  text: string;
  problems: { pointer: string; code: ProblemCode }[];
}
const goldenRecords: Golden[] = JSON.parse(
  readFileSync(new URL('../golden/records.json', import.meta.url), 'utf8'),
);

/** Records that are refused: the code, the status and the place of every kind of bad record. */
export function describeRefusedRecords(open: OpenDatabases): void {
  describe('a record is refused', () => {
    const shared = SharedDatabases.use(open);
    let database: TestDatabase;
    let texts: TestDatabase;
    beforeAll(async () => {
      database = await shared.create();
      texts = await shared.create({});
      await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
    });

    test('golden records on lines of a stream', async () => {
      // Empty lines are skipped, and a line break ends a line.
      const golden = goldenRecords.filter(({ text }) => text.trim() !== '' && !text.includes('\n'));
      expect(golden.length).toBeGreaterThan(80);
      const events = await (await shared.create()).upsertLines(golden.map(({ text }) => text).join('\n'));
      for (const [at, { name, problems }] of golden.entries()) {
        // The golden records bring vectors of any length, or none: the problems of parsing count.
        const withoutVectors = (list: Golden['problems']) =>
          list.map(({ pointer, code }) => ({ pointer, code })).filter(({ pointer }) => pointer !== '/vector');
        const found = events.flatMap((event) =>
          event.type === 'problem' && event.line === at + 1 ? [event] : [],
        );
        expect(withoutVectors(found), name).toEqual(withoutVectors(problems));
      }
    });

    test('a record without a vector, with one of no direction, or of another length', async () => {
      const upsert = (record: object) => database.upsert([{ id: 5, data: {}, vector: [1, 0] }, record]);
      const at = '/records/1/vector';
      await refused(upsert({ data: {} }), 'invalid_vector', at, 'invalid_vector');
      await refused(upsert({ data: {}, vector: [0, 0] }), 'invalid_vector', at, 'invalid_vector');
      await refused(upsert({ data: {}, vector: [1, 2, 3] }), 'invalid_dimensions', at, 'invalid_dimensions');
      await refused(
        texts.upsert([{ data: {} }, { data: {}, vector: [1, 0] }]),
        'invalid_vector',
        at,
        'invalid_vector',
      );
      await refused(database.record(5), 'record_not_found');
    });

    test.each<[string, string, ErrorCode, string, ProblemCode]>([
      ['no JSON', '{', 'invalid_json', '', 'malformed_json'],
      ['nothing', '', 'invalid_json', '', 'malformed_json'],
      ['an array', '[]', 'invalid_record', '', 'wrong_type'],
      ['no records', '{}', 'invalid_record', '', 'missing_member'],
      ['an unknown member', '{"record":[],"records":[]}', 'invalid_record', '/record', 'unknown_member'],
      ['records that are no array', '{"records":{}}', 'invalid_record', '/records', 'wrong_type'],
      ['a record that is none', '{"records":[1]}', 'invalid_record', '/records/0', 'wrong_type'],
      [
        'a duplicate column',
        '{"records":[{"data":{"a":1,"a":2},"vector":[1,0]}]}',
        'invalid_json',
        '/records/0/data/a',
        'duplicate_member',
      ],
      [
        'a number beyond a double',
        '{"records":[{"data":{"a":1e400},"vector":[1,0]}]}',
        'invalid_json',
        '/records/0/data/a',
        'number_out_of_range',
      ],
      [
        'half of a surrogate pair',
        '{"records":[{"data":{"a":"\\ud834"},"vector":[1,0]}]}',
        'invalid_json',
        '/records/0/data/a',
        'lone_surrogate',
      ],
      [
        'a bad time',
        '{"records":[{"data":{},"timestamps":{"synced_at":"x"},"vector":[1,0]}]}',
        'invalid_time',
        '/records/0/timestamps/synced_at',
        'invalid_time',
      ],
      [
        'a bad id',
        '{"records":[{"id":0,"data":{},"vector":[1,0]}]}',
        'invalid_record',
        '/records/0/id',
        'invalid_id',
      ],
      [
        'a bad UUID',
        '{"records":[{"uuid":"x","data":{},"vector":[1,0]}]}',
        'invalid_record',
        '/records/0/uuid',
        'invalid_uuid',
      ],
    ])('a batch with %s', async (_, body, code, pointer, problem) => {
      await refused(database.upsert(body), code, pointer, problem);
      expect(await database.count()).toBe(1);
    });

    test('a batch of more records than allowed, and a record that is too large', async () => {
      const target = await shared.create();
      const many = Array.from({ length: LIMITS.batch_records + 1 }, (_, at) => ({
        id: at + 1,
        data: {},
        vector: [1, 0],
      }));
      await refused(
        target.upsert(many),
        'invalid_record',
        `/records/${LIMITS.batch_records}`,
        'too_many_records',
      );
      const large = { id: 2, data: { text: 'x'.repeat(LIMITS.record_bytes) }, vector: [1, 0] };
      await refused(target.upsert([many[0]!, large]), 'too_large', '/records/1', 'too_large');
      expect(await target.count()).toBe(0);
      expect((await target.upsert(many.slice(1))).created).toBe(LIMITS.batch_records);
    });

    test('every problem of a batch is named', async () => {
      const bad = { id: 0, data: { a: {} }, timestamps: { created_at: 'x' } };
      for (const [pointer, problem] of [
        ['/records/0/id', 'invalid_id'],
        ['/records/0/data/a', 'wrong_type'],
        ['/records/0/timestamps/created_at', 'invalid_time'],
        ['/records/1/data', 'wrong_type'],
      ] as const) {
        await refused(database.upsert([bad, { data: 1 }]), 'invalid_record', pointer, problem);
      }
    });
  });

  describe('the limits of the options', () => {
    const shared = SharedDatabases.use(open, {
      limits: { ...LIMITS, batch_records: 2, record_bytes: 300, database_columns: 3, filter_depth: 40 },
    });

    test('are kept instead of the defaults', async () => {
      const database = await shared.create();
      const record = (id: number, data: object = {}) => ({ id, data, vector: [1, 0] });
      await expect(database.upsert([record(1), record(2), record(3)])).rejects.toMatchObject({
        code: 'invalid_record',
        problems: [{ code: 'too_many_records' }],
      });
      await expect(database.upsert([record(1, { text: 'x'.repeat(300) })])).rejects.toMatchObject({
        code: 'too_large',
        status: 413,
        problems: [{ pointer: '/records/0', code: 'too_large' }],
      });
      await database.upsert([record(1, { a: 1, b: 2 }), record(2, { c: 3 })]);
      await expect(database.upsert([record(3, { a: 1 }), record(4, { d: 4 })])).rejects.toMatchObject({
        code: 'invalid_record',
        problems: [{ pointer: '/records/1/data/d', code: 'too_many_columns' }],
      });
      const lines = [record(3, { d: 4 }), record(4, { a: 1 })]
        .map((record) => JSON.stringify(record))
        .join('\n');
      const events = await database.upsertLines(lines);
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'problem', line: 1, pointer: '/data/d', code: 'too_many_columns' }),
      );
      expect(await database.ids('query', { sort: { column: 'none' } })).toEqual([1, 2, 4]);
    });

    test('a filter within the raised limits is accepted', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
      let filter: FilterGroup = { condition: 'AND', rules: [{ column: 'a', operator: 'equals', value: 1 }] };
      for (let depth = 1; depth < 40; depth++) filter = { condition: 'OR', rules: [filter] };
      const page = await database.databases.reader.query(database.id, { filter }, { form: 'integer' });
      expect(JSON.parse(Buffer.from(page.body).toString()).results).toHaveLength(1);
    });
  });
}
