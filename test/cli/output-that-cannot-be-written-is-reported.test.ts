import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { open } from '../../src/index.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const FULL = '/dev/full';

test('an export, a listing and a backup into a full disk fail in one line', {
  skip: !existsSync(FULL),
}, async () => {
  const data = path.join(await temporaryDirectory(), 'data');
  const library = await open(data);
  const database = await library.createDatabase('facts', { dimensions: 2 });
  await database.upsert([{ id: 1, data: { name: 'a' }, vector: [1, 0] }]);
  await library.close();
  for (const command of ['export --database facts', 'query facts', 'backup --output -']) {
    const line = `"$0" "$1" ${command} --data "$2" > ${FULL}`;
    const failure = await promisify(execFile)('sh', ['-c', line, process.execPath, MAIN, data]).catch(
      (error) => error,
    );
    expect([command, failure.code, failure.stderr]).toEqual([
      command,
      1,
      'cosift: the output cannot be written: the disk is full\n',
    ]);
  }
});

test('an archive that does not exist is named, and no directory is made', async () => {
  const parent = await temporaryDirectory();
  const file = path.join(parent, 'missing.tar');
  const data = path.join(parent, 'data');
  expect(await cosift('restore', file, '--data', data)).toMatchObject({
    code: 1,
    stderr: `cosift: there is no file ${file}\n`,
  });
  expect(existsSync(data)).toBe(false);
});
