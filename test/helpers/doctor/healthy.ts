import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Damage } from './damages.js';

const database = (directory: string, id = 'own') => path.join(directory, 'databases', id);

/** Removes files of a copy of a data directory, and returns their names. */
function remove(directory: string, ...files: string[]): string {
  for (const file of files) rmSync(path.join(directory, file), { recursive: true, force: true });
  return `without ${files.join(', ')}`;
}

/** Changes of a data directory that damage nothing, by kind. */
export const HEALTHY: Readonly<Record<string, Damage>> = {
  'as it was left': () => 'nothing',
  'copied without the lock': (directory) => remove(directory, 'lock'),
  'without index files': (directory) => remove(directory, 'databases/own/derived', 'databases/texts/derived'),
  'with an index file missing': (directory, random) => {
    const derived = path.join(database(directory), 'derived');
    const name = random.pick(readdirSync(derived));
    return remove(directory, `databases/own/derived/${name}`);
  },
  'without the file acknowledged': (directory) => remove(directory, 'databases/own/acknowledged'),
  'restored from a backup of the main file': (directory) =>
    remove(
      directory,
      ...['-wal', '-shm'].map((end) => `databases/texts/records.sqlite${end}`),
      'databases/texts/acknowledged',
    ),
  'without the index of the log': (directory) => remove(directory, 'databases/killed/records.sqlite-shm'),
  'with files that a killed process left': (directory, random) => {
    writeFileSync(path.join(directory, `keys.json.${random.below(9999)}.tmp`), 'half');
    writeFileSync(path.join(database(directory), 'derived', `${random.below(99)}.rows.tmp`), 'half');
    for (const end of ['', '.tmp']) {
      writeFileSync(path.join(database(directory), 'vectors', `${random.below(99)}.vectors${end}`), 'half');
    }
    for (const name of ['.new-x', '.dropped-y']) mkdirSync(path.join(directory, 'databases', name));
    cpSync(database(directory, 'other'), path.join(directory, 'databases/.dropped-other'), {
      recursive: true,
    });
    return 'leftovers';
  },
  'with files of others': (directory) => {
    writeFileSync(path.join(directory, '.DS_Store'), 'x');
    writeFileSync(path.join(directory, 'databases', 'notes.txt'), 'x');
    return 'files of others';
  },
  'with a changed byte in the unused space of a page': (directory, random) => {
    const file = path.join(database(directory, 'other'), 'records.sqlite');
    const bytes = readFileSync(file);
    const unused: number[] = [];
    for (let start = 16384; start < bytes.length; start += 16384) {
      const cells = bytes.readUInt16BE(start + 3);
      const content = bytes.readUInt16BE(start + 5);
      if (bytes[start] === 13 && content - 8 - 2 * cells > 20) unused.push(start + 12 + 2 * cells);
    }
    const at = random.pick(unused);
    bytes[at] = 0xab;
    writeFileSync(file, bytes);
    return `byte ${at}`;
  },
};
