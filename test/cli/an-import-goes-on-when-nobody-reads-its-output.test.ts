import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';
import { Command, lines, temporaryDirectory } from '../helpers/processes.js';

test('an import goes on when nobody reads its output', async () => {
  const data = join(await temporaryDirectory(), 'data');
  const command = new Command(['import', '-', '--database', 'd', '--dimensions', '4', '--data', data]);
  command.child.stdout.destroy();
  command.child.stderr.destroy();
  command.child.stdin.end(`${lines(1, 700)}{}\n${lines(701, 1_000)}`);
  // 1: a line is bad.
  expect(await command.ended()).toBe(1);
  const databases = await openDatabases({ directory: data });
  expect((await databases.catalog.describe('d')).records).toBe(1_000);
  await databases.close();
});
