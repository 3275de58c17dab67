import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'cosift/client';
import { describe, expect, test } from 'vitest';
import { MariaDbServer, NO_MARIADB } from '../../scripts/mariadb/server.js';
import { inFull } from '../helpers/full.js';
import { Command, cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';
import { createShop, NO_SQLITE, sqlite } from '../sync/sqlite.js';

const ROWS = inFull(5_000, 2_000);

/** The data of the records by their keys. */
async function dataAt(url: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const { key, data } of new Client({ url, key: KEY }).database('shop').queryAll())
    found[String(key)] = data;
  return found;
}

describe.skipIf(NO_SQLITE !== undefined)(`a server${NO_SQLITE ? ` (${NO_SQLITE})` : ''}`, () => {
  test('gets the rows of a file that another process reads', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    await createShop(file);
    const { command: server, url } = await serve(path.join(directory, 'data'));
    const source = ['--from', `sqlite:${file}`, '--table', 'products', '--columns', 'name,price'];
    const place = ['--database', 'shop', '--url', url, '--api-key', KEY];
    const sync = (command: string, ...args: string[]) =>
      cosift('sync', command, ...source, ...place, ...args);
    expect((await sync('check')).stdout).toContain(`database "shop" is missing at ${url}`);
    // Nothing is embedded: no record has this column.
    await cosift('databases', 'create', 'shop', '--embed', 'none', '--url', url, '--key', KEY);
    expect(await sync('run', '--once')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('40 rows: 39 written, 0 unchanged, 0 deleted, 1 refused'),
    });
    expect((await sync('check')).stdout).toContain(`records at ${url}: 39`);
    const runner = new Command(['sync', 'run', ...source, ...place, '--every', '100ms']);
    await runner.waitFor('stdout', /in step/);
    await sqlite(file, "UPDATE products SET name = 'new' WHERE id = 1", 'DELETE FROM products WHERE id = 2');
    await expect.poll(() => dataAt(url)).toMatchObject({ 'shop/1': { name: 'new', price: 1 } });
    await expect.poll(async () => Object.keys(await dataAt(url))).toHaveLength(38);
    const second = new Command(['sync', 'run', ...source, ...place]);
    await second.waitFor('stdout', /waiting: .*another open sync of the name "shop"/);
    await sqlite(file, 'DELETE FROM products WHERE id > 10 AND id < 40');
    await runner.waitFor('stdout', /withheld/);
    runner.child.kill('SIGTERM');
    expect(await runner.ended()).toBe(0);
    // It goes on once the other one has released the sync.
    await second.waitFor('stdout', /withheld/);
    second.child.kill('SIGTERM');
    await second.ended();
    const status = () => cosift('sync', 'status', ...place);
    expect(await status()).toMatchObject({ code: 1, stdout: expect.stringContaining('lacks 29 records') });
    expect(await sync('confirm')).toMatchObject({ code: 0, stdout: expect.stringContaining('29 deleted') });
    expect((await status()).stdout).toMatch(/^shop {2}in step as of .* · 9 records · 1 refused\n$/);
    expect(Object.keys(await dataAt(url))).toHaveLength(9);
    expect(await cosift('sync', 'remove', ...place, '--delete-records')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('deleted 9 records'),
    });
    expect(await dataAt(url)).toEqual({});
    for (const [args, reason] of [
      [['--api-key', 'wrong'], 'the key is not valid; give the right key with --api-key or COSIFT_KEY'],
      [['--key', 'nothing'], 'no such column: source.nothing'],
    ] as const)
      expect(await sync('run', '--once', ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(reason),
      });
    // What the server has of it names no file and no column.
    const failed = await status();
    expect(failed.stdout).toMatch(/^shop {2}failed: the source cannot be read; the runner's output says why/);
    server.child.kill('SIGTERM');
    await server.ended();
  });

  test('is kept in step by a source of a config file, and by commands that the output names', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'notes.db');
    await sqlite(
      file,
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, n INTEGER)',
      `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${ROWS}) INSERT INTO notes SELECT n, 'note ' || n, NULL FROM n`,
    );
    const data = path.join(directory, 'data');
    const { command: server, url } = await serve(data);
    const config = path.join(directory, 'sync.json');
    const notes = { database: 'notes', from: `sqlite:${file}`, table: 'notes', columns: ['text', 'n'] };
    await writeFile(config, JSON.stringify({ sync: { notes } }));
    const place = ['--url', url, '--api-key', KEY];
    const source = ['--from', `sqlite:${file}`, '--table', 'notes', '--columns', 'text,n'];
    const described = [...source, '--database', 'notes'];
    // Most rows are not read.
    for (const args of [source, [...described, ...place]])
      expect(await cosift('sync', 'check', ...args)).toMatchObject({ code: 0, stderr: '' });
    const configured = (command: string, ...args: string[]) =>
      cosift('sync', command, '--config', config, ...args, ...place);
    expect((await configured('status')).stdout).toBe('notes  not read yet · 0 records\n');
    const keyOf = async (...databases: string[]) => {
      const actions = ['--actions', 'records.read,records.write'];
      const made = await cosift('key', 'create', '--name', 'k', ...actions, ...databases, '--data', data);
      return made.stdout.trim();
    };
    const runner = ['--api-key', await keyOf()];
    // Nothing is embedded: no row has a value there.
    const embed = ['--embed', 'n'];
    expect(
      (await cosift('sync', 'run', '--once', ...described, ...place, ...runner, ...embed)).stderr,
    ).toContain('there is no database "notes" that the key may use');
    expect((await cosift('sync', 'run', '--once', ...described, ...place, ...embed)).code).toBe(0);
    // The database has this setting.
    expect(await cosift('sync', 'run', '--once', ...described, ...place, ...runner, ...embed)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 written'),
    });
    const elsewhere = ['--api-key', await keyOf('--databases', 'others')];
    expect(
      (await cosift('sync', 'run', '--once', ...described, ...place, ...elsewhere, ...embed)).stderr,
    ).toContain('there is no database "notes" that the key may use');
    await sqlite(file, 'DELETE FROM notes WHERE id > 1000');
    const words = `--from 'sqlite:${file}' --table notes --columns text,n --database notes --url '${url}' --api-key …`;
    expect(await cosift('sync', 'run', '--once', ...described, ...place)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`\`cosift sync confirm notes ${words}\` deletes`),
    });
    expect(await configured('status')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `\`cosift sync confirm notes --config '${config}' --url '${url}' --api-key …\` deletes`,
      ),
    });
    const running = new Command(['sync', 'run', ...described, ...place]);
    await running.waitFor('stdout', /withheld/);
    for (const command of ['confirm', 'reconcile'])
      expect(await configured(command)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('another process runs the sync "notes": stop `cosift sync run`'),
      });
    running.child.kill('SIGTERM');
    await running.ended();
    expect(await configured('confirm')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${(ROWS - 1_000).toLocaleString('en-US')} deleted`),
    });
    expect((await configured('reconcile')).stdout).toContain('1,000 rows: 0 written');
    server.child.kill('SIGTERM');
    await server.ended();
  });
});

describe.skipIf(NO_MARIADB !== undefined)(`MariaDB${NO_MARIADB ? ` (${NO_MARIADB})` : ''}`, () => {
  test('is checked and followed into a directory and into a server', async () => {
    const source = await MariaDbServer.start('--skip-ssl');
    try {
      const from = await source.createDatabase();
      const { default: mysql } = await import('mysql2/promise');
      const client = await mysql.createConnection({ uri: from, multipleStatements: true });
      const fill = "INSERT INTO products VALUES (1, 'Kettle', 29.90), (2, 'Toaster', 35)";
      await client.query(
        `CREATE TABLE products (id int PRIMARY KEY, name text, price decimal(9, 2)); ${fill}`,
      );
      const directory = await temporaryDirectory();
      const { command: server, url } = await serve(path.join(directory, 'served'));
      const described = [
        '--from',
        from,
        '--table',
        'products',
        '--columns',
        'name,price',
        '--database',
        'shop',
      ];
      expect((await cosift('sync', 'check', ...described)).stdout).toContain(
        '{"key":"shop/1","data":{"name":"Kettle","price":29.9}}',
      );
      const run = (...place: string[]) =>
        cosift('sync', 'run', '--once', ...described, '--embed', 'price', ...place);
      const places = [
        ['--data', path.join(directory, 'own')],
        ['--url', url, '--api-key', KEY],
      ];
      for (const place of places)
        expect((await run(...place)).stdout).toContain('2 rows: 2 written, 0 unchanged, 0 deleted');
      await client.query('UPDATE products SET price = 30 WHERE id = 1; DELETE FROM products WHERE id = 2');
      await client.end();
      for (const place of places) {
        const again = await cosift('sync', 'run', '--once', ...described, ...place);
        expect(again.stdout).toContain('1 row: 1 written, 0 unchanged, 1 deleted');
      }
      expect(await dataAt(url)).toEqual({ 'shop/1': { name: 'Kettle', price: 30 } });
      server.child.kill('SIGTERM');
      await server.ended();
    } finally {
      await source.stop();
    }
  });
});
