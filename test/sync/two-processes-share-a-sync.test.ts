import { setImmediate as otherWork } from 'node:timers/promises';
import { type Cosift, open } from 'cosift';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { openDatabases } from '../../src/databases/index.js';
import { readSyncStatus } from '../../src/sync/open-sync.js';
import { temporaryDirectory } from '../helpers/processes.js';

/** Rows that are read when the test says so. */
class PausedRows {
  reads = 0;
  content: object[] = [];
  #goOn = () => {};

  constructor(text: string) {
    this.content = [{ sku: 'a', text }];
  }

  rows = async function* (this: PausedRows) {
    const { content } = this;
    this.reads += 1;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
    yield* content;
  }.bind(this);

  async untilRead(times: number): Promise<void> {
    while (this.reads < times) await otherWork();
  }

  goOn(): void {
    this.#goOn();
  }
}

// Each of two opened stores has connections of its own, as a process has.
describe.skipIf(NO_SERVER !== undefined)(`a store of two${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  let url: string;
  let opened: Cosift[];
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    opened = [await open({ store: url }), await open({ store: url })];
    // Nothing is embedded: no record has this column.
    await opened[0]?.createDatabase('facts', { embed: { columns: ['none'] } });
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
  });

  const syncOf = (at: number, rows: () => AsyncIterable<object> | Iterable<object>) =>
    (opened[at] as Cosift).database('facts').sync({ name: 'shop', rows, key: 'sku' });
  const text = async () => (await opened[0]?.database('facts').get('key:shop/a'))?.data.text;

  test('makes one pass at a time, so that no old row is written over a new one', async () => {
    const old = new PausedRows('old');
    const first = await syncOf(0, old.rows);
    const pass = first.once();
    await old.untilRead(1);
    let reads = 0;
    const second = await syncOf(1, () => {
      reads += 1;
      return [{ sku: 'a', text: 'new' }];
    });
    const inStep = second.inStep();
    while ((await second.status()).state !== 'waiting') await otherWork();
    expect(await second.status()).toMatchObject({
      reason: 'another process makes a pass of the sync "shop"',
      nextAttempt: expect.any(Date),
    });
    expect(reads).toBe(0);
    old.goOn();
    expect(await pass).toMatchObject({ written: 1 });
    await inStep;
    expect(await text()).toBe('new');
    await Promise.all([first.close(), second.close()]);
  });

  test('makes a whole pass again when the lock was lost with its connection', async () => {
    const source = new PausedRows('old');
    const sync = await syncOf(0, source.rows);
    const pass = sync.once();
    await source.untilRead(1);
    source.content = [{ sku: 'a', text: 'new' }];
    const { pathname } = new URL(url);
    await server.run(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'",
      pathname.slice(1),
    );
    await source.untilRead(2);
    source.goOn();
    expect(await pass).toMatchObject({ written: 1 });
    expect(await text()).toBe('new');
    await sync.close();
  });

  test('lets the other one go on when a process with a running pass is closed', async () => {
    const endless = new PausedRows('old');
    const first = await syncOf(0, endless.rows);
    const pass = first.once();
    pass.catch(() => undefined);
    await endless.untilRead(1);
    await first.close();
    const second = await syncOf(1, () => [{ sku: 'a', text: 'new' }]);
    expect(await second.once()).toMatchObject({ written: 1 });
    await second.close();
  });
});

test('a process that only reads a directory sees how far the sync of another one is', async () => {
  const directory = await temporaryDirectory();
  await using writer = await open(directory);
  const facts = await writer.createDatabase('facts', { embed: { columns: ['none'] } });
  const reader = await openDatabases({ directory, readOnly: true });
  const status = () => readSyncStatus(reader, 'facts', 'shop');
  expect(await status()).toMatchObject({ state: 'new', records: 0 });
  await using sync = await facts.sync({ name: 'shop', rows: () => [{ sku: 'a' }, { sku: 'b' }], key: 'sku' });
  await sync.once();
  expect(await status()).toMatchObject({ state: 'in_step', records: 2 });
  await reader.close();
});
