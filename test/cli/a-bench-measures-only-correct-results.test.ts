import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, open } from 'cosift';
import { Client } from 'cosift/client';
import { expect, test } from 'vitest';
import { openBenchTarget } from '../../src/cli/bench/bench-target.js';
import { BruteForce, stepsOf } from '../../src/cli/bench/brute-force.js';
import { check } from '../../src/cli/bench/check.js';
import { isDirectory } from '../../src/databases/index.js';
import { testInFull } from '../helpers/full.js';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const QUICK = ['--duration', '0.05', '--concurrency', '2', '--json'];
const QUANTILES = { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) };
const SEARCHES = { searches: expect.any(Number), per_second: expect.any(Number), latency_ms: QUANTILES };

test('generated records are imported, searched and removed', async () => {
  const { command, temporary } = await benchIn(['--records', '30', ...QUICK]);
  expect(await command.ended()).toBe(0);
  const report = JSON.parse(command.stdout);
  expect(report).toMatchObject({
    machine: { cores: expect.any(Number), node: process.version },
    database: null,
    records: 30,
    dimensions: 384,
    model: 'all-MiniLM-L6-v2',
    seed: 1,
    concurrency: 2,
    queries: { count: 30, from: expect.stringContaining('your queries are not known') },
    check: { searches: 16, records: 30 },
    import: { embedding_per_second: expect.any(Number), with_vectors_per_second: expect.any(Number) },
    embedding_ms: QUANTILES,
    searches: [
      { filter: null, engine_ms: QUANTILES, ...SEARCHES },
      { filter: { column: expect.any(String) }, engine_ms: QUANTILES, ...SEARCHES },
    ],
  });
  expect(await readdir(temporary)).toEqual([]);
});

test('Ctrl-C ends a bench and removes the generated records', async () => {
  const { command, temporary } = await benchIn(['--records', '1000000', ...QUICK]);
  await command.waitFor('stderr', /importing 1,000,000 generated records/);
  expect(await readdir(temporary)).toHaveLength(1);
  command.child.kill('SIGINT');
  expect(await command.ended()).toBe(130);
  expect(command.stdout).toBe('');
  expect(await readdir(temporary)).toEqual([]);
});

testInFull('a database is only read, in its directory and on a server', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const library = await open(data);
  const defaults = { threshold: 0.9, lexical: 0.5, limit: 1 };
  const facts = await library.createDatabase('facts', { lexical: true, defaults });
  const texts = [
    'The Eiffel Tower is in Paris',
    'Lake Baikal is deep',
    'Bread is baked',
    'Ships sail the sea',
  ];
  await facts.upsert(texts.map((text, at) => ({ id: at + 1, data: { text, even: at % 2 === 0 } })));
  const before = await exported(facts);
  await library.close();

  const local = await cosift('bench', '--database', 'facts', '--data', data, ...QUICK);
  expect(local.code).toBe(0);
  expect(JSON.parse(local.stdout)).toMatchObject({
    database: 'facts',
    records: 4,
    check: { searches: 8, records: 4 },
    searches: [{ filter: null }, { filter: { column: 'text' }, share: 0.25 }],
  });
  expect(JSON.parse(local.stdout)).not.toHaveProperty('import');
  const { url } = await serve(data);
  const remote = ['bench', '--database', 'facts', '--url', url, '--key'];
  const served = await cosift(...remote, KEY, ...QUICK);
  expect(JSON.parse(served.stdout)).toMatchObject({
    url,
    records: 4,
    check: { searches: 8, records: 4 },
    embedding_ms: QUANTILES,
    searches: [{ engine_ms: QUANTILES }, { engine_ms: QUANTILES }],
  });
  const client = new Client({ url, key: KEY });
  const { key } = await client.issueKey({ name: 'x', actions: ['search'], databases: ['facts'] });
  const searching = await cosift(...remote, key, ...QUICK.filter((option) => option !== '--json'));
  expect(searching.stdout).toMatch(/\nsearched +database facts, whose records the key may not read\n/);
  expect(searching.stdout).toMatch(
    /\nqueries +200 generated texts; seed 1\ncheck +none: the key may not read records\n/,
  );
  expect(searching.stdout).toMatch(/\nsearches\/s +p50 ms .* filter\n[\d,]+ .* none\n$/);
  expect(await exported(client.database('facts'))).toBe(before);
});

test('a database of own vectors is searched by vectors of its records', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const file = join(directory, 'records.ndjson');
  await writeFile(file, lines(1, 500));
  await cosift('import', file, '--database', 'd', '--dimensions', '4', '--data', data);
  const { code, stdout } = await cosift('bench', '--database', 'd', '--data', data, ...QUICK);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    model: null,
    queries: { count: 200, from: expect.stringMatching(/^vectors of sampled records/) },
    check: { searches: 16, records: 500 },
    searches: [{ filter: null }, { filter: { column: 'number', operator: 'less_than' } }],
  });

  // The comparison itself: a page with another score, order or length than brute force is a difference.
  const target = await openBenchTarget({ data });
  try {
    const description = await target.databases.database('d').describe();
    const { signal } = new AbortController();
    const query = { vector: [1, 2, 3, 4] };
    const page = await target.search('d', query, undefined, signal);
    const checkWith = (results: typeof page.results) =>
      check(
        {
          target,
          description,
          queries: [query],
          filter: undefined,
          ask: async () => ({ ...page, results }),
        },
        { data },
        signal,
      );
    const [first, second, ...rest] = page.results as [(typeof page.results)[0], (typeof page.results)[0]];
    expect(await checkWith(page.results)).toEqual({ searches: 1, records: 500 });
    const worse = { ...first, relevance_score: (first.relevance_score ?? 0) - 1e-9 };
    const wrong = [[worse, second, ...rest], [second, first, ...rest], [first, second], []];
    for (const results of wrong) {
      expect(await checkWith(results)).toEqual({ different: [expect.stringContaining(' instead of ')] });
    }
  } finally {
    await target.databases.close();
  }
});

test('brute force ranks by score and then by id', () => {
  const search = new BruteForce([3, 4], { threshold: 0.6, limit: 3 });
  const vectors = [
    [1, 0],
    [0, 1],
    [-1, 0],
    [Math.round(0.6 * 2 ** 30) / 2 ** 30, Math.round(0.8 * 2 ** 30) / 2 ** 30],
    [0, 1],
  ];
  for (const [at, vector] of vectors.entries()) search.add(5 - at, stepsOf(vector));
  const scores = search.page().map(({ id, score }) => [id, score]);
  expect(scores).toEqual([
    [2, 1e9],
    [1, 8e8],
    [4, 8e8],
  ]);
});

test('what cannot be measured is said, and nothing is created', async () => {
  const data = join(await temporaryDirectory(), 'data');
  expect(await cosift('bench', '--database', 'd', '--data', data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no data directory'),
  });
  expect(isDirectory(data)).toBe(false);
  expect(await cosift('bench', '--url', 'http://127.0.0.1:1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('give --database'),
  });
});

/** Returns all records with their times and vectors. */
async function exported(database: Database): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of database.exportLines({ vectors: true })) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts a bench of generated records whose temporary directories are in a directory of their own. */
async function benchIn(args: readonly string[]): Promise<{ command: Command; temporary: string }> {
  const temporary = await temporaryDirectory();
  return { command: new Command(['bench', ...args], { TMPDIR: temporary, TEMP: temporary }), temporary };
}
