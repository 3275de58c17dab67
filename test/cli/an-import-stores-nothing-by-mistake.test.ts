import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

/** Imports `content` from a pipe. */
async function importPipe(content: string, ...args: string[]) {
  const command = new Command(['import', '-', '--database', 'd', ...args]);
  command.child.stdin.end(content);
  return { code: await command.ended(), stdout: command.stdout, stderr: command.stderr };
}

async function databasesOf(data: string): Promise<string[]> {
  const { stdout } = await cosift('databases', 'list', '--json', '--data', data);
  return JSON.parse(stdout).map(({ id }: { id: string }) => id);
}

test('a database is not created when every row is bad, here or for the service', async () => {
  const data = await temporaryDirectory();
  expect(await importPipe('{"a":[[1]]}\n{"a":\n', '--data', data)).toMatchObject({ code: 1 });
  const vector = '{"vector":[1,2],"a":"x"}\n';
  expect(await importPipe(vector, '--dimensions', '3', '--data', data)).toMatchObject({ code: 1 });
  expect(await databasesOf(data)).toEqual([]);
});

test('a column that an option names and no record of a pipe has is reported', async () => {
  const data = await temporaryDirectory();
  const lines = '{"a":"x"}\n{"a":"y"}\n';
  const identity = await importPipe(lines, '--id-column', 'sku', '--data', data);
  expect(identity).toMatchObject({
    code: 1,
    stderr: 'cosift: --id-column: the first record of the pipe has no column "sku"\n',
  });
  expect(await databasesOf(data)).toEqual([]);
  const others = await importPipe(lines, '--embed', 'a,title', '--types', 'zip=text', '--data', data);
  expect(others).toMatchObject({ code: 1 });
  expect(others.stderr).toContain('--embed: no record has a column "title"');
  expect(others.stderr).toContain('--types: no record has a column "zip"');
  expect(others.stderr).not.toContain('"a"');
});

test('a column that --embed names twice is reported before anything is stored', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'a.csv');
  const data = join(directory, 'data');
  await writeFile(file, 'id,name\n1,a\n');
  expect(
    await cosift('import', file, '--database', 'd', '--data', data, '--embed', 'name,name'),
  ).toMatchObject({
    code: 1,
    stderr: 'cosift: --embed: "name" is given twice\n',
  });
  expect(existsSync(data)).toBe(false);
});

test('Parquet is read from a pipe and out of gzip, by a copy that nothing leaves behind', async () => {
  const data = join(await temporaryDirectory(), 'data');
  // Other processes make copies in the directory of all.
  const temporary = await temporaryDirectory();
  const load = async (content: Uint8Array) => {
    const args = ['import', '-', '--database', 'd', '--id-column', 'sku', '--data', data];
    const command = new Command(args, { TMPDIR: temporary, TEMP: temporary });
    command.child.stdin.end(content);
    return { code: await command.ended(), stdout: command.stdout };
  };
  const columnData = [
    { name: 'sku', data: ['A', 'B'] },
    { name: 'price', data: [1.5, 2] },
  ];
  const file = new Uint8Array(parquetWriteBuffer({ columnData }));
  const plain = await load(file);
  expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
  const packed = await load(gzipSync(file));
  expect(packed).toMatchObject({ code: 0, stdout: expect.stringContaining('2 unchanged') });
  expect(packed.stdout).toContain('read as Parquet, gzip');
  expect(await readdir(temporary)).toEqual([]);
});
