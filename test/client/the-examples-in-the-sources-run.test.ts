import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { embed } from 'ai';
import { transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddingModel, searchTool } from '../../src/ai/index.js';
import * as filters from '../../src/api/filters.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { Service } from '../server/service.js';

let directory: string;
let service: Service;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-examples-'));
  service = await Service.start();
  const client = new Client({ url: service.url, key: service.adminKey });
  for (const name of ['facts', 'landmarks']) {
    const database = await client.createDatabase(name);
    await database.upsert([{ id: 1, data: { title: 'Lake Baikal', note: 'deep water under a bridge' } }]);
  }
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** The examples of doc comments, without the leading asterisks. */
function examplesOf(file: string): [string, string][] {
  const found = [...read(file).matchAll(/@example\n[ *]*```ts\n([\s\S]*?)[ *]*```/g)];
  return found.map(([, code = '']) => [file, code.replaceAll(/^ *\* ?/gm, '')]);
}

const SOURCES = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/${name.replaceAll('\\', '/')}`)
  .sort();
const README = 'packages/client/README.md';
const EXAMPLES = [
  ...SOURCES.flatMap(examplesOf),
  [README, /```ts\n([\s\S]*?)```/.exec(read(README))?.[1] ?? ''] as const,
];

test.each(EXAMPLES)('an example of %s runs', async (file, code) => {
  const printed: unknown[][] = [];
  const declaresFacts = /const facts\b/.test(code);
  const cosift = await open(path.join(directory, declaresFacts ? 'empty' : 'with-facts'));
  const known = {
    // Examples name directories and a service of their readers.
    open: () => open(path.join(directory, 'own')),
    Client: class extends Client {
      constructor() {
        super({ url: service.url, key: service.adminKey });
      }
    },
    ...filters,
    embed,
    embeddingModel,
    searchTool,
    cosift,
    facts: declaresFacts ? undefined : await cosift.createDatabase('facts'),
    readFileSync: () => '',
    writeFile: async (_: string, content: AsyncIterable<Uint8Array>) => {
      for await (const chunk of content) expect(chunk.length).toBeGreaterThan(0);
    },
    console: { log: (...values: unknown[]) => printed.push(values) },
  };
  const AsyncFunction = (async () => undefined).constructor as typeof Function;
  const { code: body } = await transform(code.replaceAll(/^import .*\n/gm, ''), {
    loader: 'ts',
    format: 'esm',
    target: 'es2024',
  });
  // An example that declares a name of its own must not see that name as a parameter.
  const names = Object.entries(known).filter(([name]) => !new RegExp(`const ${name}\\b`).test(body));
  try {
    await new AsyncFunction(...names.map(([name]) => name), body)(...names.map(([, value]) => value));
  } finally {
    await cosift.close();
  }
  if (file.startsWith('src/client/')) expect(printed[0]?.[0]).toBe(1);
});

test('the main calls have examples', () => {
  expect(EXAMPLES.map(([file]) => file)).toEqual([
    'src/ai/embedding-model.ts',
    'src/ai/search-tool.ts',
    ...Array(12).fill('src/api/database.ts'),
    ...Array(5).fill('src/api/databases.ts'),
    ...Array(4).fill('src/api/filters.ts'),
    'src/client/client.ts',
    'src/library/cosift.ts',
    'src/library/local-database.ts',
    README,
  ]);
});
