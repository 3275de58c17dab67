import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type DatabaseService, openDatabases } from '../../src/databases/index.js';
import { Cosift } from '../../src/library/cosift.js';
import type { Changes, QueryRequest, SearchRequest } from '../../src/schema/index.js';
import { testDirectory } from '../helpers/archives.js';

// A data directory, and what it answered; `write-directory.ts` beside it writes both. The database `closed` was closed,
// `killed` has a log of SQLite whose commits are not in its main file. `texts` has the built-in model and words: its record
// 3 has no text, its record 4 several passages.
const GOLDEN = new URL('../golden/directory.tar.gz', import.meta.url);

interface Recorded {
  records: number;
  /** Each request with the pages to which its cursors led. */
  answers: ({ pages: { pagination: { next_cursor: string | null } }[] } & (
    | { call: 'search'; request: SearchRequest }
    | { call: 'query'; request: QueryRequest }
  ))[];
  changes: Changes;
}

/** Unpacks the directory to `directory`, and returns what was recorded. */
async function unpack(directory: string): Promise<[string, Recorded][]> {
  execFileSync('tar', ['-xzf', fileURLToPath(GOLDEN), '-C', directory]);
  return Object.entries(JSON.parse(await readFile(path.join(directory, 'answers.json'), 'utf8')));
}

/** Asks for every page again, with the cursors that were recorded. */
async function pagesOf(
  databases: DatabaseService,
  id: string,
  { call, request, pages }: Recorded['answers'][number],
) {
  const options = { form: 'uuid' } as const;
  const again = [];
  for (const at of pages.keys()) {
    const cursor = pages[at - 1]?.pagination.next_cursor;
    const pagination = { ...request.pagination, ...(cursor == null ? {} : { cursor }) };
    const { body } =
      call === 'search'
        ? await databases.reader.search(id, { ...request, pagination }, options)
        : await databases.reader.query(id, { ...request, pagination }, options);
    again.push(JSON.parse(Buffer.from(body).toString()));
  }
  return again;
}

test('its pages, scores, cursors and changes are the same', async () => {
  const directory = await testDirectory();
  const unpacked = await unpack(directory);
  expect(unpacked.map(([id]) => id)).toEqual(['closed', 'killed', 'texts']);
  for (let opened = 0; opened < 2; opened++) {
    const databases = await openDatabases({ directory, threads: 1 });
    await using cosift = new Cosift(databases);
    for (const [id, { records, answers, changes }] of unpacked) {
      expect((await cosift.database(id).describe()).records).toBe(records);
      for (const answer of answers) expect(await pagesOf(databases, id, answer)).toEqual(answer.pages);
      expect(await cosift.database(id).changes({ limit: 1000 })).toEqual(changes);
    }
  }
  await using cosift = new Cosift(await openDatabases({ directory, threads: 1 }));
  const texts = cosift.database('texts');
  expect(await texts.describe()).toMatchObject({ records: 4, without_text: 1 });
  const { results } = await texts.search('the violin was made in Cremona', { threshold: 0, passages: true });
  expect(results[0]).toMatchObject({ id: 4, passage: { column: 'text' } });
  expect(results).toHaveLength(3);
});
