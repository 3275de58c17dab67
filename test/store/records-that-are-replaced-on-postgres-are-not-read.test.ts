import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Change } from '../../src/schema/index.js';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import type { RecordStore } from '../../src/store/record-store.js';
import { countedDatabase } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

const RECORDS = 20;
const LENGTH = 200_000;

test('long records are replaced without reading them, and their changes are those of the engine', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-replaced-'));
  const lengths: number[] = [];
  const pglite = await PGliteDatabase.open();
  const local = LocalStore.open(directory, LIMITS);
  const postgres = new PostgresStore(countedDatabase(pglite, lengths), LIMITS);
  const write = async (store: RecordStore, records: readonly object[]) => {
    const body = Buffer.from(JSON.stringify({ records }));
    await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
  };
  const replace = async (store: RecordStore) => {
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    const ids = Array.from({ length: RECORDS }, (_, at) => at + 1);
    const long = ids.map((id) => ({
      id,
      data: { text: 'x'.repeat(LENGTH), 'odd "é"': id % 2 === 0, [`only ${id}`]: null, n: id },
      vector: [1, id],
    }));
    await write(store, long);
    lengths.length = 0;
    const [first, ...others] = long as [(typeof long)[0], ...typeof long];
    // The first record is the same as before. Each of the others is replaced twice.
    await write(store, [
      first,
      ...others.map((record) => ({ ...record, data: { text: 'short' } })),
      ...others.map((record) => ({ ...record, data: {} })),
    ]);
    const read = Math.max(0, ...lengths);
    const { columns, records } = await store.describeDatabase('db');
    const { changes } = JSON.parse(
      Buffer.from(
        await store.changes('db', {
          after: 0,
          limit: 1_000,
          forced_filter: { rules: [{ column: 'n', operator: 'greater_than', value: 10 }] },
        }),
      ).toString(),
    );
    return {
      read,
      columns,
      records,
      changes: changes.map(({ id, kind, position }: Change) => ({ id, kind, position })),
    };
  };
  try {
    const expected = await replace(local);
    const { read, ...found } = await replace(postgres);
    expect(found.columns.length).toBeGreaterThan(3);
    expect(found.changes.length).toBeGreaterThan(5);
    expect({ ...found, read: 0 }).toEqual(expected);
    expect(read).toBeLessThan(LENGTH);
  } finally {
    await local.close();
    await pglite.destroy();
    await rm(directory, { recursive: true, force: true });
  }
});
