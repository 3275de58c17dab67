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
