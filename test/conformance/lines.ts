import { describe, expect, test } from 'vitest';
import type { LineProblem } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import { chunksOf } from './test-database.js';

const UUID = '00000000-0000-4000-8000-000000000001';

/** Upserts of NDJSON, which are committed while the stream is being sent. */
export function describeLines(open: OpenDatabases): void {
  describe('a stream of lines', () => {
    const shared = SharedDatabases.use(open);
    const line = (id: number, more: object = {}) =>
      JSON.stringify({ id, data: { n: id }, vector: [1, id], ...more });

    test('stores the good lines, names the bad ones by number, and sums up', async () => {
      const database = await shared.create();
      await database.put({ id: 1, uuid: UUID, data: { n: 1 }, vector: [1, 1] });
      const events = await database.upsertLines(
        [
          line(1),
          '{broken',
          '',
          line(2, { data: { a: {} } }),
          line(3, { uuid: UUID }),
          line(4, { vector: [1] }),
          '   \r',
          `${line(5)}\r`,
          line(5),
          line(6, { data: { n: 'last' } }),
        ].join('\n'),
      );
      const problems = events.filter((event): event is LineProblem => event.type === 'problem');
      expect(problems.map(({ line, pointer, code }) => [line, pointer, code]).sort()).toEqual([
        [2, '', 'malformed_json'],
        [4, '/data/a', 'wrong_type'],
        [5, expect.any(String), 'identity_conflict'],
        [6, '/vector', 'invalid_dimensions'],
      ]);
      expect(events.at(-1)).toEqual({
        type: 'summary',
        lines: 10,
        created: 2,
        changed: 0,
        unchanged: 2,
        failed: 4,
        started_at: expect.any(String),
      });
      expect(events.filter(({ type }) => type === 'progress').at(-1)).toMatchObject({
        lines: 10,
        committed: 4,
      });
      expect(await database.ids('query', { sort: { column: 'none' } })).toEqual([1, 5, 6]);
    });

    test('lines may be cut anywhere', async () => {
      const text = `${[1, 2, 3].map((id) => line(id, { data: { text: `größe 😀 ${id}` } })).join('\n')}\n`;
      const bytes = Buffer.from(text);
      for (const size of [1, 7, 1_000]) {
        const database = await shared.create();
        async function* chunks() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        const events = await database.upsertLines(chunks());
        expect(events.at(-1)).toMatchObject({ type: 'summary', lines: 3, created: 3, failed: 0 });
        expect((await database.record(2)).data).toEqual({ text: 'größe 😀 2' });
      }
    });

    test('an empty stream has a summary', async () => {
      const database = await shared.create();
      const events = await database.upsertLines('');
      expect(events).toMatchObject([{ type: 'summary', lines: 0, created: 0, failed: 0 }]);
    });

    test('is stored and searchable while it goes on', async () => {
      const database = await shared.create();
      let proceed!: () => void;
      const paused = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      async function* chunks() {
        yield Buffer.from(`${line(1)}\n${line(2)}\n`);
        await paused;
        yield Buffer.from(line(3));
      }
      const events = database.databases.writer.upsertLines(database.id, chunks())[Symbol.asyncIterator]();
      const first = await events.next();
      expect(first.value).toMatchObject({ type: 'progress', lines: 2, committed: 2 });
      expect(await database.ids('search', { search: { vector: [1, 1] } })).toEqual([1, 2]);
      proceed();
      let last = await events.next();
      for (let next = last; !next.done; next = await events.next()) last = next;
      expect(last.value).toMatchObject({ type: 'summary', lines: 3, created: 3 });
    });

    test('ends with what its check or its source throws, and keeps what was committed', async () => {
      const database = await shared.create();
      const failure = new Error('the source fails');
      async function* broken() {
        yield Buffer.from(`${line(1)}\n`);
        throw failure;
      }
      const drain = (lines: AsyncIterable<Uint8Array>, options = {}) => database.upsertLines(lines, options);
      await expect(drain(broken())).rejects.toBe(failure);
      const refusal = new Error('the key was revoked');
      const check = () => {
        throw refusal;
      };
      await expect(drain(chunksOf([line(2)]), { check })).rejects.toBe(refusal);
      const stop = AbortSignal.abort(new Error('the caller is gone'));
      await expect(drain(chunksOf([line(3)]), { signal: stop })).rejects.toBe(stop.reason);
      for (const id of [2, 3])
        await expect(database.record(id)).rejects.toMatchObject({ code: 'record_not_found' });
    });

    test('asks its check before a batch is embedded and again before it is committed', async () => {
      const database = await shared.create();
      const refusal = new Error('the key was revoked');
      for (const last of [1, 2]) {
        let calls = 0;
        const check = () => {
          calls += 1;
          if (calls === last) throw refusal;
        };
        await expect(database.upsertLines(line(1), { check })).rejects.toBe(refusal);
      }
      expect(await database.count()).toBe(0);
    });

    test('a line that is too long is a problem of that line', async () => {
      const database = await shared.create();
      const long = line(2, { data: { text: 'x'.repeat(1 << 20) } });
      const events = await database.upsertLines([line(1), long, line(3)].join('\n'));
      expect(events.filter(({ type }) => type === 'problem')).toMatchObject([{ line: 2, code: 'too_large' }]);
      expect(events.at(-1)).toMatchObject({ type: 'summary', lines: 3, created: 2, failed: 1 });
    });
  });
}
