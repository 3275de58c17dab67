import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { ADMIN } from '../../src/server/keys/caller.js';
import { hashKey } from '../../src/server/keys/key-format.js';
import { KeyStore } from '../../src/server/keys/key-store.js';
import { PostgresKeyStorage } from '../../src/server/keys/postgres-key-storage.js';
import { PostgresWebhookStore } from '../../src/server/webhooks/postgres-webhook-store.js';
import type { StoredWebhook } from '../../src/server/webhooks/stored-webhook.js';
import { Catalog } from '../../src/store/postgres/catalog.js';
import { PostgresStore, ServiceTables } from '../../src/store/postgres/index.js';
import { Servers } from '../../src/store/postgres/servers.js';
import type { SqlDatabase } from '../../src/store/postgres/sql.js';
import { holdSync } from '../../src/store/postgres/sync-holds.js';
import { StaleError } from '../../src/store/store-errors.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { statementsOf } from '../helpers/postgres/source-statements.js';
import { searchStore } from '../helpers/search-store.js';

/** A text that would be seen in a statement if it were not bound. */
const MARK = 'marked"; DROP';

const statements: string[] = [];
/** All statements since the start. */
const sent = new Set<string>();
let pglite: PGliteDatabase;
let database: SqlDatabase;
let store: PostgresStore;

beforeAll(async () => {
  pglite = await PGliteDatabase.open();
  // Stores of other files of this process may have made it.
  await pglite.write((sql) => sql.run('DROP EXTENSION IF EXISTS vector CASCADE'));
  database = changedStatements(pglite, () => (text) => {
    statements.push(text);
    sent.add(text);
    return text;
  });
  store = new PostgresStore(database, LIMITS);
  await store.load();
  await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
  const records = Array.from({ length: 40 }, (_, at) => ({
    id: at + 1,
    data: { [MARK]: at },
    vector: [1, at % 4],
  }));
  const body = Buffer.from(JSON.stringify({ records }));
  await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
  await store.createDatabase('long', { model: 'm', fingerprint: 'm', dimensions: 2 });
  const texts = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, data: { [MARK]: `text ${at}` } }));
  const prepared = await store.prepareBatch('long', Buffer.from(JSON.stringify({ records: texts })));
  // Each text has two passages, the first of which is the same for all.
  const vectors = Float32Array.from(texts.flatMap(() => [1, 0, 0, 1]));
  const splits = Uint32Array.from(texts.flatMap((_, at) => [at, 2, 2, 0, 0, 1, 0, 1, 2]));
  await store.commit('long', prepared, { vectors, splits, fingerprint: 'm' });
});

afterAll(() => pglite.destroy());

test('searches and listings are flat statements, in which every name and value is bound', async () => {
  statements.length = 0;
  const rule = (operator: string, value?: unknown) => ({
    column: MARK,
    operator,
    ...(value !== undefined && { value }),
  });
  const filter = {
    condition: 'OR',
    rules: [
      ...['equals', 'not_equals', 'contains', 'not_contains', 'starts_with', 'ends_with'].map((operator) =>
        rule(operator, MARK),
      ),
      ...['greater_than', 'less_than', 'greater_than_or_equals', 'less_than_or_equals'].map((operator) =>
        rule(operator, 5),
      ),
      ...['is_empty', 'is_not_empty'].map((operator) => rule(operator)),
      ...['in', 'not_in'].map((operator) => rule(operator, [MARK, 5])),
      ...['before', 'after', 'on_or_before', 'on_or_after'].map((operator) => rule(operator, '2026-01-31')),
    ],
  } as never;
  const common = {
    form: 'integer',
    limit: 3,
    filter,
    total: true,
    explain: true,
    facets: [{ column: MARK }],
  } as const;
  const vector = Float64Array.of(1, 0);
  for (let cursor: string | undefined, pages = 0; pages === 0 || (cursor && pages < 4); pages += 1) {
    const { body } = await searchStore(
      store,
      'db',
      { ...common, threshold: 0, embedded_by: null, ...(cursor && { cursor }) },
      vector,
    );
    cursor = JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;
  }
  const long = { ...common, filter: undefined, passages: true, threshold: 0.5, embedded_by: 'm' };
  const first = await searchStore(store, 'long', long, vector);
  const { next_cursor } = JSON.parse(Buffer.from(first.body).toString()).pagination;
  await searchStore(store, 'long', { ...long, threshold: 0, cursor: next_cursor }, vector);
  for (const sort of [{ column: MARK }, { time: 'created_at' }] as never[]) {
    const { body } = await store.query('db', { ...common, sort });
    const cursor = JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;
    await store.query('db', { ...common, sort, cursor });
  }
  const selects = statements.filter((text) => text.includes('cosift.records_'));
  expect(selects.length).toBeGreaterThan(15);
  for (const text of selects) {
    expect(text).not.toContain('marked');
    expect(text).not.toContain("'w");
  }
});

/** Calls everything else that sends statements. */
const useAll = async () => {
  const put = async (id: string, records: object[], passages = 1) => {
    const prepared = await store.prepareBatch(id, Buffer.from(JSON.stringify({ records })));
    const count = prepared.texts().length;
    const vectors = Float32Array.from(Array.from({ length: count * passages }, (_, at) => [1, at]).flat());
    const splits = Uint32Array.from(
      Array.from({ length: count }, (_, at) => [at, 2, 2, 0, 0, 1, 0, 1, 2]).flat(),
    );
    const { fingerprint } = await store.databaseInfo(id);
    await store.commit(id, prepared, {
      vectors,
      ...(passages > 1 && { splits }),
      ...(count > 0 && { fingerprint: fingerprint as string }),
    });
  };
  const search = (id: string, request: object, vector = Float64Array.of(1, 0)) =>
    searchStore(
      store,
      id,
      { form: 'integer', limit: 3, threshold: 0.1, embedded_by: id === 'all' ? 'm' : null, ...request },
      vector,
    );
  // Tables of an earlier version are migrated.
  await pglite.write(async (sql) => {
    await sql.run('ALTER TABLE cosift.databases DROP COLUMN list_columns');
    await sql.run('ALTER TABLE cosift.columns DROP COLUMN lists');
    await sql.run('DROP TABLE cosift.syncs');
    await sql.run('UPDATE cosift.schema_version SET version = version - 2');
  });
  await store.load();
  const of = { model: 'm', fingerprint: 'm', dimensions: 2 };
  await store.createDatabase('all', of);
  await store.changeSettings('all', (settings) => ({ ...settings, lexical: true }));
  const texts = Array.from({ length: 60 }, (_, at) => ({ id: at + 1, data: { text: `text ${at}` } }));
  await put('all', texts.slice(0, 30), 2);
  await put('all', texts.slice(30));
  await put('all', texts);
  await put('all', [{ id: 1, data: { text: 'other' } }]);
  await put('db', [{ id: 1_000, data: { text: 'long '.repeat(4_000) }, vector: [1, 0] }]);
  await put('db', [{ id: 1_000, data: { text: 'short' }, vector: [1, 0] }]);
  for (const weight of [0.3, 1]) {
    const lexical = { weight, text: 'text 7' };
    const { body } = await search('all', { lexical, explain: true });
    const cursor = JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;
    await search('all', { lexical, ...(cursor && { cursor }) });
    await search('all', { lexical, total: true, facets: [{ column: 'text' }] });
  }
  await search('all', { threshold: 0.9, total: true });
  const distinct = { column: 'text', counts: true };
  for (const id of ['db', 'all']) {
    for (const threshold of [0, 0.1]) await search(id, { distinct, threshold, total: true });
    await search(id, { distinct, cursor: '0_1', threshold: 0 });
    await store.query(id, { form: 'integer', limit: 3, distinct, total: true });
  }
  await search('db', { columns: [MARK], map: true });
  await store.query('db', { form: 'uuid', limit: 3, columns: [MARK], map: true });
  await put('db', [{ id: 1_001, data: { tags: ['b', 'a'] }, vector: [1, 0] }]);
  const tagged = { rules: [{ column: 'tags', operator: 'equals', value: 'a' }] } as never;
  const sort = { column: 'tags', direction: 'asc' } as const;
  await store.query('db', { form: 'integer', limit: 3, filter: tagged, sort });
  const patch = Buffer.from(JSON.stringify({ data: { n: 7 } }));
  const patched = await store.preparePatch('db', '7', 'both', patch);
  await store.commit('db', patched, { vectors: new Float32Array() });
  await store.record('db', '7', { form: 'integer' });
  await store.deleteRecords('db', { ids: [1] });
  await store.deleteRecords('all', { ids: [2] });
  const { epoch, version } = await store.mark('db');
  const kept = { name: 'shop', text: '{}' };
  await store.deleteRecords('db', { unwritten: { version, prefix: 'shop/' }, epoch, max: 100, state: kept });
  await store.syncState('db', { name: 'shop', limit: 10, after: 'shop/1' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // A database of one process takes no lock.
  const several: SqlDatabase = {
    isConcurrent: true,
    read: (work, signal) => database.read(work, signal),
    write: (work, signal) => database.write(work, signal),
    listen: () => undefined,
    close: async () => undefined,
  };
  const hold = await holdSync(several, 'db', 'shop', new AbortController().signal);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  await hold.release();
  const forced_filter = { condition: 'AND', rules: [{ column: 'n', operator: 'equals', value: 7 }] } as const;
  const after = { after: 0, limit: 100 };
  await store.changes('db', { ...after });
  await store.changes('db', { ...after, forced_filter: forced_filter as never });
  // The changes are older than the service keeps them.
  await pglite.write((sql) => sql.run('UPDATE cosift.changes_3 SET written = 0'));
  await put('all', [{ id: 3, data: { text: 'another' } }]);
  for await (const _ of store.exportLines('all', { vectors: true }));
  await store.linesOf('all', [3, 4]);
  await store.nextId('all');
  await store.examine('all', {});
  await store.progress();
  await store.listDatabases();
  // Those of workers that do not answer.
  await database.read((sql) => new Catalog(LIMITS, new Servers(database, undefined)).names(sql));
  const times = { created_at: '2026-01-01T00:00:00Z', last_write_at: '2026-01-01T00:00:00Z' };
  const change = { position: 1, kind: 'created', id: 1, uuid: crypto.randomUUID(), at: times.created_at };
  const feed = { position: 1, epoch: 'a'.repeat(32), changes: [change as never], times, nextId: 100 };
  await store.adoptFeed('db', feed);
  // Another process embeds the database with another model.
  const other = new PostgresStore(database, LIMITS);
  const catchUp = async (passages: number) => {
    const batch = await other.reembedder.prepare('all');
    const count = batch.texts().length;
    const vectors = Float32Array.from({ length: count * passages * 2 }, (_, at) => 1 - (at % 2));
    const splits = Array.from({ length: count }, (_, at) => [at, 2, 2, 0, 0, 1, 0, 1, 2]).flat();
    await other.reembedder.commit('all', batch, {
      ...{ vectors, fingerprint: 'n' },
      ...(passages > 1 && { splits: Uint32Array.from(splits) }),
    });
  };
  await other.reembedder.begin('all', { embed: {}, model: 'o', fingerprint: 'o', dimensions: 2 });
  await other.reembedder.begin('all', { embed: {}, model: 'n', fingerprint: 'n', dimensions: 2 });
  await other.reembedder.find('all');
  await (await other.reembedder.holdWriters('all'))();
  await catchUp(2);
  // The first has its new vectors and is found unchanged.
  await put('all', [
    { id: 3, data: { text: 'another' } },
    { id: 4, data: { text: 'later' } },
  ]);
  await expect(other.reembedder.switch('all')).rejects.toBeInstanceOf(StaleError);
  // The hold must not pass before the commit looks.
  await pglite.write((sql) => sql.run('UPDATE cosift.databases SET held_until = held_until + 3600000'));
  const waiting = new AbortController();
  const prepared = await store.prepareBatch('all', Buffer.from('{"records":[{"id":5,"data":{}}]}'));
  const held = store.commit('all', prepared, { vectors: new Float32Array() }, waiting.signal);
  const left = expect(held).rejects.toThrow('left');
  const isLooking = () => statements.some((text) => /^SELECT 1 FROM cosift.databases\s+WHERE id/.test(text));
  await expect.poll(isLooking).toBe(true);
  waiting.abort(new Error('left'));
  await left;
  await catchUp(1);
  await other.reembedder.switch('all');
  await other.reembedder.begin('all', { embed: {}, model: 'o', fingerprint: 'o', dimensions: 2 });
  await other.reembedder.cancel('all');
  const { leases } = store.reembedder;
  const state = { model: 'm', state: 'running', done: 0, records: 1 } as never;
  await leases.take('all', state);
  await leases.all();
  await leases.renew('all', state);
  await leases.release('all', state);
  await leases.remove('all');
  const tables = await ServiceTables.open(database);
  const storage = new PostgresKeyStorage(tables);
  await storage.adminHash(hashKey('admin'));
  const keys = new KeyStore(storage, hashKey('admin'));
  await keys.issue({ name: 'k', actions: ['search'], databases: '*' }, ADMIN);
  await keys.list(ADMIN);
  const webhooks = new PostgresWebhookStore(tables);
  const webhook = { webhook_id: 'one', database: 'db' } as StoredWebhook;
  await webhooks.add(webhook);
  await webhooks.find('one');
  await webhooks.lease();
  await webhooks.update(webhook);
  await webhooks.close();
  await webhooks.remove(['one']);
  await store.setAlias({ name: 'alias', database: 'all' });
  await store.aliases();
  await expect(store.dropDatabase('all')).rejects.toThrow('alias');
  await store.deleteAlias('alias');
  await store.dropDatabase('all');
};

/** A table that Citus has at the place of a group of databases. */
const PLACED =
  /cosift\.(records_\d+_\d+|passages_\d+_\d+|changes_\d+|databases|columns|reembeddings|syncs)\b/g;

/** Joins in statements. */
const JOINS = [
  /cosift\.passages_\w+ JOIN cosift\.records_\w+ ON id = record\s/,
  /cosift\.records_\w+ LEFT JOIN cosift\.passages_\w+ ON record = id\s/,
  // The first records of groups: the table is whole at one place.
  /id IN \(SELECT DISTINCT ON [\s\S]*? id FROM cosift\.records_\w+ [\s\S]* ORDER BY [^)]*\)/,
  // Citus sends values to the place of another table of the statement. Without one, it copies what is inserted, and commits
  // in two phases.
  /unnest\([^)]*\)\s+(?:WITH ORDINALITY )?AS t \([^)]*\)\s+CROSS JOIN cosift\.databases AS d WHERE d\.id = /,
  /unnest\([^)]*\)\s+(?:WITH ORDINALITY )?AS t \([^)]*\)\s+JOIN cosift\.records_\w+ AS r ON r\.id = t\.id AND/,
  /unnest\([^)]*\)\s+AS t \([^)]*\)\s+JOIN cosift\.passages_\w+ AS p ON p\.record = t\.record AND/,
  /^UPDATE cosift\.records_\w+ AS r SET [\s\S]* FROM unnest\([^)]*\) AS t \([^)]*\) WHERE r\.id = t\.id$/,
  // The elements of a list are where the record is.
  /EXISTS \(SELECT FROM jsonb_path_query\(cells->\$\d+::text, '\$\[\*\]'\) AS e \(element\) WHERE /,
  /LEFT JOIN LATERAL \(\s+SELECT element FROM jsonb_path_query\([^)]*\) AS e \(element\) ORDER BY [\s\S]* LIMIT 1\s+\) AS e ON true/,
  // The values of a record are where the record is.
  /cosift\.records_\w+ CROSS JOIN jsonb_each\(cells\) AS t \(name, value\)/,
  // The data of the record of a change: both tables are in the same places.
  /\(SELECT data FROM cosift\.records_\w+ AS r WHERE r\.id = t\.id\)/,
  // Whether a record has its vectors of another model: both tables are in the same places.
  /EXISTS \(\s+SELECT 1 FROM cosift\.records_\w+ AS n WHERE n\.id = o\.id AND [^)]*\)/,
  // The switch of a model: both tables are in the same places.
  /WHERE NOT EXISTS \(SELECT 1 FROM cosift\.records_\w+ AS (\w) WHERE \1\.id = \w\.(?:id|record)\)/,
];

test('every statement is one that Citus sends to the places of the records', async () => {
  await useAll();
  const all = [...sent].filter((text) => !/^\s*(CREATE|ALTER|DROP)\s/.test(text));
  const spread = all.filter((text) => text.match(PLACED));
  expect(spread.length).toBeGreaterThan(60);
  for (const text of spread) {
    const flat = JOINS.reduce((rest, join) => rest.replace(join, ' '), text)
      .replaceAll('count(DISTINCT ', 'count(')
      .replaceAll('IS NOT DISTINCT FROM', '=')
      .replaceAll('IS DISTINCT FROM', '<>');
    // Citus would send every record of such a statement to its coordinator, or refuse it.
    expect(flat.match(/\bSELECT\b/g)?.length ?? 0, text).toBeLessThanOrEqual(1);
    expect(flat, text).not.toMatch(/\b(WITH|OFFSET|OVER|DISTINCT|JOIN|UNION|LATERAL|EXISTS|unnest)\b/);
    // Functions whose result changes are refused in statements that write, or their rows go to the coordinator.
    expect(flat, text).not.toMatch(/\b(random|clock_timestamp|nextval|md5|gen_random_uuid)\b/);
    // Other tables are at the coordinator.
    expect(text.replaceAll(PLACED, ''), text).not.toContain('cosift.');
  }
});

test('the tests above send every statement of the source', () => {
  const own = statementsOf('store/postgres').filter(
    // Statements of connections, and what only Citus needs.
    ({ place }) => !/^(node-postgres|listener|distribution)\.ts/.test(place),
  );
  const source = [...own, ...statementsOf('server/keys'), ...statementsOf('server/webhooks')];
  expect(source.length).toBeGreaterThan(80);
  const missing = source.filter(({ pattern }) => ![...sent].some((text) => pattern.test(text)));
  expect(missing.map(({ place }) => place)).toEqual([]);
});
