import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why the tests of SQLite files are skipped; undefined where they are run. */
export const NO_SQLITE = spawnSync('sqlite3', ['--version']).error && 'no program sqlite3';

/** Runs statements on a file, in a process of its own. Returns what they print. */
export async function sqlite(file: string, ...statements: string[]): Promise<string> {
  const { stdout } = await run('sqlite3', [file, `${statements.join(';\n')};`]);
  return stdout;
}

/** Makes a table of 40 products in a file; the last one has a price that no record has. */
export async function createShop(file: string): Promise<void> {
  await sqlite(
    file,
    'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC)',
    "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 40) INSERT INTO products SELECT n, 'p' || n, n FROM n",
    'UPDATE products SET price = 9007199254740993 WHERE id = 40',
  );
}
