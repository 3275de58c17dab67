import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Changes, type Cosift, type Data, open, type QueryRequest, type SearchRequest } from 'cosift';
import { expect, test } from 'vitest';
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
    | { call: 'query'; request: QueryRequest<Data, 'uuid'> }
  ))[];
  changes: Changes;
}

/** Unpacks the directory to `directory`, and returns what was recorded. */
async function unpack(directory: string): Promise<[string, Recorded][]> {
  execFileSync('tar', ['-xzf', fileURLToPath(GOLDEN), '-C', directory]);
  return Object.entries(JSON.parse(await readFile(path.join(directory, 'answers.json'), 'utf8')));
}

/** Asks for every page again, with the cursors that were recorded. */
async function pagesOf(cosift: Cosift, id: string, { call, request, pages }: Recorded['answers'][number]) {
  const database = cosift.database(id);
  const again = [];
  for (const at of pages.keys()) {
    const cursor = pages[at - 1]?.pagination.next_cursor;
    const pagination = { ...request.pagination, ...(cursor == null ? {} : { cursor }) };
    const page =
      call === 'search'
        ? await database.search({ ...request, pagination }, { variant: 'uuid' })
        : await database.query({ ...request, pagination }, { variant: 'uuid' });
    again.push(page);
  }
  return again;
}

test('its pages, scores, cursors and changes are the same', async () => {
  const directory = await testDirectory();
  const databases = await unpack(directory);
  expect(databases.map(([id]) => id)).toEqual(['closed', 'killed', 'texts']);
  for (let opened = 0; opened < 2; opened++) {
    await using cosift = await open(directory, { threads: 1 });
    for (const [id, { records, answers, changes }] of databases) {
      expect((await cosift.database(id).describe()).records).toBe(records);
      for (const answer of answers) expect(await pagesOf(cosift, id, answer)).toEqual(answer.pages);
      expect(await cosift.database(id).changes({ limit: 1000 })).toEqual(changes);
    }
  }
  await using cosift = await open(directory, { threads: 1 });
  const texts = cosift.database('texts');
  expect(await texts.describe()).toMatchObject({ records: 4, without_text: 1 });
  const { results } = await texts.search('the violin was made in Cremona', { threshold: 0, passages: true });
  expect(results[0]).toMatchObject({ id: 4, passage: { column: 'text' } });
  expect(results).toHaveLength(3);
});
