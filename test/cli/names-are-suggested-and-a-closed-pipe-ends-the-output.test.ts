import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeChecked } from '../../src/files/checked-file.js';
import { ALIASES_FILE } from '../../src/store/local/aliases-file.js';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

async function directoryWith(lines: string): Promise<string> {
  const data = await temporaryDirectory();
  const file = join(await temporaryDirectory(), 'lines.ndjson');
  await writeFile(file, lines);
  const stored = await cosift('import', file, '--database', 'facts', '--dimensions', '2', '--data', data);
  expect(stored).toMatchObject({ code: 0 });
  return data;
}

test('every command names the database that was probably meant', async () => {
  const data = await directoryWith('{"vector":[1,0],"a":"x"}\n');
  for (const args of [
    ['export', '--database', 'fact'],
    ['backup', '--database', 'fact', '--output', join(data, 'backup.tar')],
    ['reembed', 'fact', '--cancel'],
  ]) {
    expect(await cosift(...args, '--data', data)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'cosift: there is no database "fact"; did you mean "facts"?\n',
    });
  }
});

test('an export keeps the order of columns that are integers', async () => {
  const data = await directoryWith('{"vector":[1,0],"z":"x","2024":1,"a":"q"}\n');
  const { stdout } = await cosift('export', '--database', 'facts', '--format', 'csv', '--data', data);
  expect(stdout.split('\n')[0]).toBe('id,uuid,z,2024,a');
});

test('export, backup and lists end with 141 when nobody reads their output', async () => {
  const line = `{"vector":[1,0],"a":"${'x'.repeat(1000)}"}\n`;
  // More than pipes hold.
  const lines = Array.from({ length: 1_000 }, (_, id) => line.replace('{', `{"id":${id + 1},`));
  const data = await directoryWith(lines.join(''));
  const aliases = Array.from({ length: 10_000 }, (_, at) => ({ name: `alias-${at}`, database: 'facts' }));
  await writeChecked(join(data, 'aliases.json'), aliases, ALIASES_FILE);
  for (const args of [
    ['export', '--database', 'facts'],
    ['backup', '--output', '-'],
    ['alias', 'list', '--json'],
  ]) {
    const command = new Command([...args, '--data', data]);
    command.child.stdout.once('data', () => command.child.stdout.destroy());
    expect(await command.ended()).toBe(141);
    expect(command.stderr).not.toMatch(/cosift:|OutputClosed/);
  }
});

test('keys and settings are printed as JSON', async () => {
  const data = await directoryWith('{"vector":[1,0]}\n');
  await cosift('key', 'create', '--name', 'reader', '--data', data);
  const keys = JSON.parse((await cosift('key', 'list', '--json', '--data', data)).stdout);
  expect(keys).toMatchObject([{ name: 'reader', actions: ['search'], databases: '*' }]);
  const settings = JSON.parse((await cosift('config', '--port', '9000', '--json')).stdout);
  expect(settings).toContainEqual({ name: 'port', value: '9000', source: '--port' });
});

test('an expiry without a time zone is refused with the name of the option', async () => {
  const data = await directoryWith('{"vector":[1,0]}\n');
  const args = ['key', 'create', '--name', 'x', '--expires', '2026-12-01T00:00:00', '--data', data];
  const { code, stderr } = await cosift(...args);
  expect(code).toBe(1);
  expect(stderr).toBe('cosift: --expires: must be an ISO 8601 date, or date and time with Z or an offset\n');
});
