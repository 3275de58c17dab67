import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
function examplesOf(file: string): string[] {
  const found = [...read(file).matchAll(/@example\n[ *]*```ts\n([\s\S]*?)[ *]*```/g)];
  return found.map(([, code = '']) => code.replaceAll(/^ *\* ?/gm, ''));
}

const EXAMPLES: [string, string][] = [
  ...['src/library/cosift.ts', 'src/client/client.ts', 'src/api/database.ts', 'src/api/filters.ts'].flatMap(
    (file) => examplesOf(file).map((code): [string, string] => [file, code]),
  ),
];

test.each(EXAMPLES)('an example of %s runs', async (file, code) => {
  const printed: unknown[][] = [];
  const cosift = await open(path.join(directory, 'beside'));
  const known = {
    // Examples name directories and a service of their readers.
    open: () => open(path.join(directory, 'own')),
    Client: class extends Client {
      constructor() {
        super({ url: service.url, key: service.adminKey });
      }
    },
    ...filters,
    facts: file.startsWith('src/api/') ? await cosift.createDatabase('facts') : undefined,
    readFileSync: () => '',
    console: { log: (...values: unknown[]) => printed.push(values) },
  };
  const AsyncFunction = (async () => undefined).constructor as typeof Function;
  const body = code.replaceAll(/^import .*\n/gm, '');
  // An example that declares a name of its own must not see that name as a parameter.
  const names = Object.entries(known).filter(([name]) => !new RegExp(`const ${name}\\b`).test(body));
  try {
    await new AsyncFunction(...names.map(([name]) => name), body)(...names.map(([, value]) => value));
  } finally {
    await cosift.close();
  }
  if (/client/i.test(file)) expect(printed[0]?.[0]).toBe(1);
});

test('the main calls have examples', () => {
  expect(EXAMPLES.map(([file]) => file)).toEqual([
    'src/library/cosift.ts',
    'src/client/client.ts',
    ...Array(7).fill('src/api/database.ts'),
    ...Array(2).fill('src/api/filters.ts'),
  ]);
});
