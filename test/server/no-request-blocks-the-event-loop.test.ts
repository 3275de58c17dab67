import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonValues, LIMITS, MAX_SEARCHES, searchesBytes } from '../../src/schema/index.js';
import { SERVICE_COMPONENTS } from '../../src/server/variants/schemas.js';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { inFull } from '../helpers/full.js';
import { ClientThread } from './client-thread.js';
import { turnShare } from './longest-turn.js';
import { Service } from './service.js';

let service: Service;
let client: ClientThread;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/some', { dimensions: 2 });
  client = new ClientThread(service.url, service.adminKey);
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

/** What surrounds an array in a body. */
interface Place {
  path: string;
  before: string;
  after: string;
  maxItems: number | undefined;
}

type Schema = Record<string, unknown>;

/** Every array of a schema, at every depth up to that of the deepest filter. */
function* arraysOf(schema: Schema, at: Omit<Place, 'maxItems'>, seen: readonly string[]): Generator<Place> {
  const { $ref, type, items, properties, maxItems } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) as keyof typeof SERVICE_COMPONENTS;
    if (seen.filter((other) => other === name).length >= LIMITS.filter_depth) return;
    yield* arraysOf(SERVICE_COMPONENTS[name], at, [...seen, name]);
  }
  if (type === 'array') {
    yield { ...at, maxItems: maxItems as number | undefined };
    const { path, before, after } = at;
    yield* arraysOf(
      (items ?? {}) as Schema,
      { path: `${path}/0`, before: `${before}[`, after: `]${after}` },
      seen,
    );
  }
  for (const [name, member] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
    const { path, before, after } = at;
    const inside = { path: `${path}/${name}`, before: `${before}{"${name}":`, after: `}${after}` };
    yield* arraysOf(member, inside, seen);
  }
  for (const keyword of ['oneOf', 'anyOf', 'then', 'else']) {
    for (const branch of [schema[keyword] ?? []].flat() as Schema[]) yield* arraysOf(branch, at, seen);
  }
}

const LONG = 'x'.repeat(200);
const RULE = '{"column":"a","operator":"equals","value":0}';
/** Items of arrays by what they are; the argument counts them. */
const ITEMS: Record<string, (i: number) => string> = {
  zeros: () => '0',
  numbers: String,
  texts: (i) => `"${i}"`,
  'long texts': (i) => `"${LONG}${i}"`,
  objects: () => '{}',
  arrays: () => '[]',
  'arrays of numbers': (i) => `[${'0,'.repeat(200)}${i}]`,
  rules: () => RULE,
  'incomplete rules': () => '{"operator":"equals"}',
  'nested groups': () => '{"rules":[]}',
  'other members': (i) => `{"a${i}":0}`,
};

/** Items of at most so many bytes and values, and at most `maxItems`. */
function itemsOf(item: (i: number) => string, bytes: number, values: number, maxItems: number): string {
  const items: string[] = [];
  // Items of one kind have the same number of values.
  const count = Math.min(maxItems, Math.floor(values / (1 + (item(0).match(/[[{,]/g)?.length ?? 0))));
  for (let room = bytes; items.length < count; ) {
    const next = item(items.length);
    room -= next.length + 1;
    if (room < 0) break;
    items.push(next);
  }
  return items.join(',');
}

const MAX_VALUES = jsonValues(LIMITS);

/** The bodies that the engine parses, however many values they have. */
const MAX_BYTES: Partial<Record<keyof typeof SERVICE_COMPONENTS, number>> = {
  Batch: LIMITS.batch_bytes,
  RecordPatch: LIMITS.record_bytes,
};

/** The schemas of batches of searches, with those of their searches. */
const BATCHES: Partial<Record<keyof typeof SERVICE_COMPONENTS, keyof typeof SERVICE_COMPONENTS>> = {
  SearchesRequestA: 'SearchRequestA',
  SearchesRequestB: 'SearchRequestB',
};

/** Batches of the largest searches, which are as long as they may be. */
function* batchesOf(name: keyof typeof SERVICE_COMPONENTS): Generator<[string, string]> {
  // Other kinds of items are in single searches.
  const kinds = ['zeros', 'arrays of numbers', 'nested groups'];
  for (const [description, search] of bodiesOf(name, [''], kinds)) {
    const count = Math.floor((searchesBytes(LIMITS) - '{"searches":[]}'.length) / (search.length + 1));
    const searches = Array<string>(Math.min(count, MAX_SEARCHES)).fill(search);
    yield [`${searches.length} searches: ${description}`, `{"searches":[${searches.join(',')}]}`];
  }
}

/** Bodies of a schema that are as long as they may be, with each of `others` as a member, by their description. */
function* bodiesOf(
  name: keyof typeof SERVICE_COMPONENTS,
  others = ['', '"other":0,'],
  kinds = Object.keys(ITEMS),
): Generator<[string, string]> {
  const places = [...arraysOf(SERVICE_COMPONENTS[name], { path: '', before: '', after: '' }, [])];
  const deepest = Math.max(...places.map(({ path }) => path.split('/').length));
  const times = (MAX_BYTES[name] ?? LIMITS.body_bytes) / LIMITS.body_bytes;
  const repeated = (items: string) => Array<string>(times).fill(items).join(',');
  for (const { path, before, after, maxItems } of places) {
    const depth = path.split('/').length;
    // Of the depths of a filter: the first ones, and the last.
    if (depth > inFull(6, 3) && depth < deepest) continue;
    const few = depth < 3 || depth === deepest ? ['zeros', 'arrays of numbers'] : ['zeros'];
    for (const kind of inFull(kinds, few)) {
      const item = ITEMS[kind]!;
      for (const other of inFull(others, kind === 'zeros' ? others : [''])) {
        const start = before.replace('{', `{${other}`);
        const bytes = LIMITS.body_bytes - start.length - after.length - 2;
        const values = MAX_VALUES - 2 * path.split('/').length;
        const all = [
          itemsOf(item, bytes, values, Infinity),
          // What is larger is refused before the place of an array matters, or parsed by threads of the engine.
          ...(path === places[0]?.path && other === '' && inFull(true, kind === 'zeros')
            ? [repeated(itemsOf(item, bytes, Infinity, Infinity))]
            : []),
          ...(maxItems === undefined ? [] : [itemsOf(item, bytes, values, maxItems)]),
        ];
        for (const items of new Set(all)) {
          const description = `${path} of ${kind}, ${items.length} bytes${other && ', beside another member'}`;
          yield [description, `${start}[${items}]${after}`];
        }
      }
    }
  }
  const members = itemsOf((i) => `"member ${i}":0`, LIMITS.body_bytes - 2, MAX_VALUES - 1, Infinity);
  yield ['many members', `{${inFull(repeated(members), members)}}`];
}

/** The operations that take a body. The two variants of an operation differ in the names of members. */
const JSON_BODIES = Object.entries(OPERATIONS)
  .flatMap(([id, operation]) =>
    operation.body === undefined ? [] : [{ id, ...operation, body: operation.body }],
  )
  .filter(({ id }) => inFull(true, !id.endsWith('A')));

test.each(JSON_BODIES)(
  'no body of $id blocks the event loop',
  { timeout: 600_000 },
  async ({ method, path, body }) => {
    const target = path.replace('{id}', 'some').replace('{rid}', '1');
    const slow: [number, string][] = [];
    let worst: [number, string] = [0, ''];
    const search = BATCHES[body];
    for (const [description, json] of search === undefined ? bodiesOf(body) : batchesOf(search)) {
      const share = await turnShare(() => client.send(method, target, json));
      if (share > 1) slow.push([share, description]);
      if (share > worst[0]) worst = [share, description];
    }
    console.log(`${method} ${path}: ${worst[0].toFixed(2)} of a turn, ${worst[1]}`);
    expect(slow).toEqual([]);
  },
);
