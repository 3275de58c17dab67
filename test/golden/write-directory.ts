// Writes test/golden/directory.tar.gz: a data directory of the format of the day, and the answers it gives. Run it when
// the format changes, after a build:
//
//   npx tsx test/golden/write-directory.ts
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../src/api/index.js';
import { type DatabaseService, openDatabases } from '../../src/databases/index.js';
import { Cosift } from '../../src/library/cosift.js';
import type { QueryRequest, SearchRequest } from '../../src/schema/index.js';

const FILE = fileURLToPath(new URL('directory.tar.gz', import.meta.url));

const day = (n: number, month: number) =>
  new Date(Date.UTC(2025, month - 1, 1 + (n % 28))).toISOString();

function record(n: number) {
  return {
    key: `SKU-${n}`,
    data: { n, even: n % 2 === 0, name: `record ${n}` },
    vector: Array.from({ length: 8 }, (_, at) => Math.sin(n * 8 + at)),
    timestamps: { created_at: day(n, 1), changed_at: day(n, 2), synced_at: day(n, 3) },
  };
}

async function fill(database: Database): Promise<void> {
  await database.upsert(Array.from({ length: 40 }, (_, n) => record(n)));
  await database.upsert([{ ...record(7), data: { n: 7, even: false, name: 'another name' } }]);
  await database.patch('key:SKU-8', { even: null });
  await database.delete({ ids: ['key:SKU-20'] });
}

const SEARCHES: SearchRequest[] = [
  { search: { vector: [1, 0.5, 0, 0, 0, 0, 0.25, 0], threshold: 0 }, pagination: { limit: 7 }, total: true },
  {
    search: { vector: [0, 0, 1, 0, -1, 0, 0, 0], threshold: 0.1 },
    filter: { condition: 'AND', rules: [{ column: 'even', operator: 'equals', value: true }] },
    pagination: { limit: 3 },
  },
];
const QUERIES: QueryRequest[] = [
  { filter: { condition: 'AND', rules: [{ column: 'n', operator: 'less_than', value: 30 }] }, pagination: { limit: 9 } },
];

interface Page {
  pagination: { next_cursor?: string | null | undefined };
}

/** All pages of a request, of which `read` reads the one at a cursor. */
async function pagesOf(read: (cursor: string | undefined) => Promise<Page>): Promise<Page[]> {
  const pages: Page[] = [];
  do {
    const cursor = pages.at(-1)?.pagination.next_cursor;
    pages.push(await read(cursor ?? undefined));
  } while (pages.at(-1)?.pagination.next_cursor);
  return pages;
}

async function answersOf(databases: DatabaseService, database: Database) {
  const options = { form: 'uuid' } as const;
  const parsed = ({ body }: { body: Uint8Array }): Page => JSON.parse(Buffer.from(body).toString());
  const answers = [];
  for (const request of SEARCHES) {
    const pages = await pagesOf(async (cursor) => {
      const pagination = { ...request.pagination, ...(cursor !== undefined && { cursor }) };
      return parsed(await databases.reader.search(database.id, { ...request, pagination }, options));
    });
    answers.push({ call: 'search', request, pages });
  }
  for (const request of QUERIES) {
    const pages = await pagesOf(async (cursor) => {
      const pagination = { ...request.pagination, ...(cursor !== undefined && { cursor }) };
      return parsed(await databases.reader.query(database.id, { ...request, pagination }, options));
    });
    answers.push({ call: 'query', request, pages });
  }
  const { records } = await database.describe();
  return { records, answers, changes: await database.changes({ limit: 1000 }) };
}

async function fillTexts(cosift: Cosift): Promise<Database> {
  const texts = await cosift.createDatabase('texts', { lexical: true });
  const long = 'The violin was made in Cremona by a master of his time. '.repeat(60);
  await texts.upsert([
    { id: 1, data: { text: 'a tower of iron' } },
    { id: 2, data: { text: 'a lake in the mountains' } },
    { id: 3, data: { n: 1 } },
    { id: 4, data: { text: long } },
  ]);
  return texts;
}

const directory = await mkdtemp(path.join(tmpdir(), 'cosift-golden-'));
const copied = await mkdtemp(path.join(tmpdir(), 'cosift-golden-'));
const recorded: Record<string, unknown> = {};
const databases = await openDatabases({ directory, threads: 1 });
const cosift = new Cosift(databases);
for (const id of ['closed', 'killed']) {
  const database = await cosift.createDatabase(id, { dimensions: 8 });
  await fill(database);
  recorded[id] = await answersOf(databases, database);
}
const texts = await fillTexts(cosift);
recorded.texts = { records: (await texts.describe()).records, answers: [], changes: await texts.changes({ limit: 1000 }) };
// As a process leaves it that is killed: its commits are in the log of SQLite.
await cp(path.join(directory, 'databases/killed'), path.join(copied, 'databases/killed'), { recursive: true });
await cosift.close();
for (const id of ['closed', 'texts']) {
  await cp(path.join(directory, 'databases', id), path.join(copied, 'databases', id), { recursive: true });
}
await writeFile(path.join(copied, 'answers.json'), JSON.stringify(recorded));
execFileSync('tar', ['--sort=name', '--owner=0', '--group=0', '-czf', FILE, '-C', copied, 'answers.json', 'databases']);
await rm(directory, { recursive: true });
await rm(copied, { recursive: true });
