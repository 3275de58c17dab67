import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Command, temporaryDirectory } from '../helpers/processes.js';

// A URL with a mistake was taken for the name of a directory, which was made, and had the password in its name.
const PLACES = [
  ['--to', 'postgres://cosift:pass#word@host/db'],
  ['--to', 'postgres:/cosift:password@host/db'],
  ['--to', 'postgresql:/cosift:password@host/db'],
  ['--to', 'PostgreSQL:cosift:password@host/db'],
  ['--to', 'POSTGRES://cosift:pass#word@host/db'],
  ['--to', 'mysql://cosift:pass#word@host/db'],
  ['--to', 'http://127.0.0.1:1'],
  ['--to', ''],
  ['--from', 'postgres://cosift:pass#word@host/db'],
  ['--from', 'Postgres:/cosift:password@host/db'],
  ['--from', 'http:/user:password@127.0.0.1:1'],
  ['--from', 'http://user:pass#word@127.0.0.1:1'],
  ['--from', ''],
] as const;

test.each(inFull(PLACES, PLACES.slice(7, 9)))(
  '%s %j is refused, and nothing is made',
  async (option, place) => {
    const directory = await temporaryDirectory();
    const other = option === '--to' ? '--from' : '--to';
    const command = new Command(['migrate', option, place, other, './data'], {}, directory);
    expect(await command.ended()).toBe(1);
    const { stdout, stderr } = command;
    expect(stdout).toBe('');
    expect(stderr).toContain(`${option}: must be a data directory`);
    expect(stderr).not.toContain('word');
    expect(await readdir(directory)).toEqual([]);
  },
);
