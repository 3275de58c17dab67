import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { open } from 'cosift';
import { describe, expect, test, vi } from 'vitest';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';
import { NO_SQLITE, sqlite } from '../sync/sqlite.js';

async function dataIn(directory: string, database: string): Promise<Record<string, unknown>> {
  await using databases = await open(directory, { threads: 1 });
  const found: Record<string, unknown> = {};
  for await (const { key, data } of databases.database(database).queryAll()) found[String(key)] = data;
  return found;
}

describe.skipIf(NO_SQLITE !== undefined)(`a SQLite file${NO_SQLITE ? ` (${NO_SQLITE})` : ''}`, () => {
  test('is checked, followed, withheld, confirmed and forgotten', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    const data = path.join(directory, 'data');
    await sqlite(
      file,
      'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC)',
      "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30) INSERT INTO products SELECT n, 'p' || n, n FROM n",
      'UPDATE products SET price = 9007199254740993 WHERE id = 30',
    );
    const from = ['--from', `sqlite:${file}`, '--table', 'products'];
    const columns = ['--columns', 'name,price', '--database', 'shop'];
    expect(await cosift('sync', 'check', ...from)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('products has "id", "name", "price"'),
    });
    const checked = await cosift('sync', 'check', ...from, ...columns);
    expect(checked.stdout).toContain('key: id\ncolumn name: TEXT\ncolumn price: NUMERIC\nrows: 30\n');
    expect(checked.stdout).toContain('{"key":"shop/1","data":{"name":"p1","price":1}}');
    expect(checked.stdout).toContain('refused: shop/30: column "price": 9007199254740993 cannot');
    const sync = (command: string, ...args: string[]) =>
      cosift('sync', command, ...from, ...columns, '--data', data, ...args);
    const first = await sync('run', '--once', '--embed', 'name');
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('30 rows: 29 written, 0 unchanged, 0 deleted, 1 refused'),
    });
    expect(first.stderr).toContain('refused 30: column "price"');
    expect((await sync('run', '--once')).stdout).toContain('30 rows: 0 written, 29 unchanged');
    await sqlite(file, 'DELETE FROM products WHERE id > 5');
    const short = await sync('run', '--once');
    expect(short).toMatchObject({ code: 1, stdout: expect.stringContaining('24 withheld') });
    const status = () => cosift('sync', 'status', '--database', 'shop', '--data', data);
    expect(await status()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'the source lacks 24 records, which `cosift sync confirm` with the options of the source deletes',
      ),
    });
    expect(await sync('confirm')).toMatchObject({ code: 0, stdout: expect.stringContaining('24 deleted') });
    expect(await status()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^shop {2}in step as of .* · 5 records\n/),
    });
    expect(Object.keys(await dataIn(data, 'shop'))).toEqual([
      'shop/1',
      'shop/2',
      'shop/3',
      'shop/4',
      'shop/5',
    ]);
    const place = ['--database', 'shop', '--data', data];
    expect((await cosift('sync', 'remove', ...place, '--delete-records')).stdout).toContain(
      'deleted 5 records',
    );
    expect((await status()).stdout).toBe('shop  not read yet · 0 records\n');
    expect(await cosift('sync', 'remove', 'shpo', ...place)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the database has nothing of a source "shpo"'),
    });
    const other = await sync('run', '--once', '--embed', 'price');
    expect(other.stderr).toContain('database "shop" exists, and embeds name: leave out `embed`');
  });

  test('is followed by a server that cannot follow another source', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    await sqlite(file, 'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)');
    const config = path.join(directory, 'cosift.json');
    const products = { database: 'shop', from: `sqlite:${file}`, table: 'products', columns: ['name'] };
    const sync = { lost: { ...products, from: 'env:NOT_SET' }, products };
    await writeFile(config, JSON.stringify({ data: path.join(directory, 'data'), sync }));
    const server = new Command(['serve', '--port', '0', '--config', config]);
    await server.waitFor(
      'stderr',
      /"sync":"lost",.*"state":"failed","reason":"the environment variable NOT_SET/,
    );
    await server.waitFor('stderr', /"sync":"products",.*"state":"in_step"/);
    server.child.kill('SIGTERM');
    expect(await server.ended()).toBe(0);
  });

  test('is directed at the server that follows it', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    await sqlite(
      file,
      'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)',
      "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30) INSERT INTO products SELECT n, 'p' || n FROM n",
    );
    const data = path.join(directory, 'data');
    const config = path.join(directory, 'cosift.json');
    const products = { database: 'shop', from: `sqlite:${file}`, table: 'products', columns: ['name'] };
    const away = { ...products, database: 'away', from: 'postgres://user:hunter2@127.0.0.1:9/none' };
    const lost = { ...products, database: 'lost', from: 'env:NOT_SET' };
    const sources = { away, lost, products: { ...products, every: '1h' } };
    await writeFile(config, JSON.stringify({ data, sync: sources }));
    // Nothing is embedded: no record has this column.
    for (const id of ['shop', 'away'])
      await cosift('databases', 'create', id, '--embed', 'none', '--data', data);
    const before = await cosift('sync', 'status', '--config', config);
    expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining('lost  not read yet') });
    const server = new Command(['serve', '--port', '0', '--config', config]);
    const [, url = ''] = await server.waitFor('stdout', /listening on (\S+)\n/);
    await server.waitFor('stderr', /"sync":"products",.*"state":"in_step"/);
    await server.waitFor('stderr', /"sync":"away",.*"state":"waiting"/);
    const sync = (command: string, ...args: string[]) =>
      cosift('sync', command, ...args, '--url', url, '--data', data);
    expect(await sync('status', 'products')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^products {2}in step as of .* · 30 records\n$/),
    });
    const shown = await sync('status');
    expect(shown.stdout).toMatch(
      /^away {2}(waiting: .*|reading · .*)\nlost {2}failed: the environment variable NOT_SET is not set .*\nproducts {2}in step/,
    );
    expect((await sync('status', '--database', 'away', '--json')).stdout).toMatch(/^{"name":"away",.*}\n$/);
    await sqlite(file, "UPDATE products SET name = 'new' WHERE id = 1", 'DELETE FROM products WHERE id > 10');
    expect(await sync('reconcile', 'products')).toMatchObject({
      code: 1,
      stdout: '10 rows: 1 written, 9 unchanged, 0 deleted, 20 withheld\n',
    });
    expect(await sync('status', 'products')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `lacks 20 records, which \`cosift sync confirm products --data '${data}' --url '${url}'\` deletes`,
      ),
    });
    const key = (
      await cosift('key', 'create', '--name', 'k', '--actions', 'databases.manage', '--data', data)
    ).stdout;
    expect(await sync('confirm', 'products', '--api-key', key.trim())).toMatchObject({
      code: 0,
      stdout: '10 rows: 0 written, 10 unchanged, 20 deleted\n',
    });
    const own = [
      '--from',
      `sqlite:${file}`,
      '--table',
      'products',
      '--columns',
      'name',
      '--database',
      'shop',
    ];
    for (const [args, reason] of [
      [['run', 'products', ...own, '--once'], 'the service itself follows a source "products"'],
      [['remove', 'products', '--database', 'shop'], 'the service itself follows a source "products"'],
      [['reconcile'], 'name a source: away, lost, products'],
      [['confirm', 'prodcuts'], 'the server follows only away, lost, products'],
      [['reconcile', 'products', '--api-key', 'wrong'], 'the key is not valid'],
      [['reconcile', 'lost'], 'the environment variable NOT_SET is not set'],
      [['confirm', 'products', '--max-deletes', '9'], '--max-deletes needs --from'],
    ] as const) {
      const [command, ...more] = args;
      expect(await sync(command, ...more)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(reason),
      });
    }
    const beside = await cosift('sync', 'reconcile', 'products', '--config', config);
    expect(beside).toMatchObject({ code: 1, stderr: expect.stringContaining('give --url') });
    const endless = new Command(['sync', 'reconcile', 'away', '--url', url, '--data', data]);
    await endless.waitFor('stderr', /waiting: /);
    endless.child.kill('SIGINT');
    expect(await endless.ended()).toBe(130);
    expect(endless.stderr).toContain('The server goes on.');
    server.child.kill('SIGTERM');
    expect(await server.ended()).toBe(0);
    expect(server.stderr + shown.stdout).not.toContain('hunter2');
  });

  test('is followed until nobody reads the states', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    await sqlite(file, 'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)');
    const place = ['--database', 'shop', '--data', path.join(directory, 'data')];
    const source = ['--from', `sqlite:${file}`, '--table', 'products', '--columns', 'name'];
    const sync = new Command(['sync', 'run', ...source, ...place, '--every', '100ms']);
    await sync.waitFor('stdout', /in step/);
    sync.child.stdout.destroy();
    await sqlite(file, 'INSERT INTO products VALUES (1, NULL)');
    expect(await sync.ended()).toBe(141);
    expect(sync.stderr).toBe('');
  });

  test('is described in a config file, which a server follows', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'shop.db');
    await sqlite(
      file,
      'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)',
      "INSERT INTO products VALUES (1, 'a')",
    );
    const config = path.join(directory, 'cosift.json');
    const write = (products: object) =>
      writeFile(config, JSON.stringify({ data: path.join(directory, 'data'), sync: { products } }));
    const source = {
      database: 'shop',
      from: 'env:SHOP',
      table: 'products',
      columns: ['name'],
      embed: ['name'],
      every: '100ms',
    };
    const run = (...args: string[]) => cosift(...args, '--config', config);
    await write({ ...source, every: 'often' });
    for (const command of ['serve', 'sync run'])
      expect(await run(...command.split(' '))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('sync.products.every: is "often", must be a duration'),
      });
    await write({ ...source, embed: ['nmae'] });
    expect(await run('sync', 'run', 'products')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'sync.products.embed: records have no column "nmae"; `columns` has "name"',
      ),
    });
    await write(source);
    expect(await run('sync', 'run', 'products')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the environment variable SHOP is not set'),
    });
    vi.stubEnv('SHOP', `sqlite:${file}`);
    const server = new Command(['serve', '--port', '0', '--config', config]);
    await server.waitFor('stderr', /"sync":"products","database":"shop","state":"in_step","records":1,/);
    expect(await run('sync', 'run', 'products')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('stop it for this command'),
    });
    await sqlite(file, "INSERT INTO products VALUES (2, 'b'), (3, NULL)");
    const records = async () => JSON.parse((await run('sync', 'status', '--json')).stdout || '{}').records;
    await expect.poll(records).toBe(3);
    expect(server.stderr.match(/"sync":"products"/g)).toHaveLength(1);
    server.child.kill('SIGTERM');
    await server.ended();
    expect(await run('sync', 'run', '--once')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 rows: 0 written, 3 unchanged'),
    });
  });
});

test('what cannot be followed is refused, and no password is shown', async () => {
  const secret = 'postgres://user:hunter2@127.0.0.1:9/none';
  const columns = ['--table', 'a', '--columns', 'b', '--database', 'c', '--data', await temporaryDirectory()];
  for (const [args, reason] of [
    [['--from', 'mongodb://user:hunter2@host/x', ...columns], '--from: must be postgres://'],
    [['--from', secret, '--query', 'SELECT 1', ...columns], "cannot be used with option '--table"],
    [['--from', `${secret}?sslmode=wrong`, ...columns], 'sslmode must be one of'],
    [columns, '--table needs --from'],
    [['--from', secret, ...columns, '--embed', 'bb'], '--embed: records have no column "bb"'],
    [['--from', 'postgres://user:1#hunter2@host/x', ...columns], 'percent-encode the characters / ? #'],
    [['nothing'], 'describe the source by --from'],
  ] as const) {
    const { code, stdout, stderr } = await cosift('sync', 'run', '--once', ...args);
    expect(stderr).toContain(reason);
    expect(stdout + stderr).not.toContain('hunter2');
    expect(code).toBe(1);
  }
});
