import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Random } from '../random.js';
import { sql } from './sql.js';

/** Damages a copy of a data directory, and returns what it did. The directory has the databases of `makeDirectory`. */
export type Damage = (directory: string, random: Random) => string;

const store = (directory: string, id = 'own') => path.join(directory, 'databases', id, 'records.sqlite');
const derived = (directory: string, id = 'own') => path.join(directory, 'databases', id, 'derived');
const vectors = (directory: string, id = 'own') => path.join(directory, 'databases', id, 'vectors');

/** Changes one byte of a file where it is not zero: zeros may be unused space, whose content does not matter. */
function flip(file: string, random: Random, from = 0, to = statSync(file).size): string {
  const bytes = readFileSync(file);
  let at = from + random.below(to - from);
  while (bytes[at] === 0) at = at + 1 < to ? at + 1 : from;
  bytes[at]! ^= 1 << random.below(8);
  writeFileSync(file, bytes);
  return `bit of byte ${at} of ${file}`;
}

function truncate(file: string, random: Random): string {
  const length = random.below(statSync(file).size);
  truncateSync(file, length);
  return `${file} cut to ${length} bytes`;
}

function run(directory: string, statement: string, id = 'own'): string {
  sql(store(directory, id), statement);
  return statement;
}

const anId = (random: Random) => 1001 + random.below(4000);

/** Pages of a table or an index, without pages that hold only links to others. */
function pagesOf(file: string, names: readonly string[]): number[] {
  // The byte at the start of a page says what it is: 13 a leaf of a table, 10 a leaf of an index.
  const bytes = readFileSync(file);
  const roots = sql(file, `SELECT rootpage FROM sqlite_schema WHERE name IN (${names.map((n) => `'${n}'`)})`);
  const pages: number[] = [];
  const visit = (page: number) => {
    const start = (page - 1) * 16384;
    const kind = bytes[start];
    if (kind === 13 || kind === 10) pages.push(page);
    else {
      const cells = bytes.readUInt16BE(start + 3);
      for (let cell = 0; cell < cells; cell++) {
        visit(bytes.readUInt32BE(start + bytes.readUInt16BE(start + 12 + 2 * cell)));
      }
      visit(bytes.readUInt32BE(start + 8));
    }
  };
  for (const [root] of roots) visit(root as number);
  return pages;
}

/** Changes a bit within a cell of a leaf page. */
function flipCell(file: string, random: Random, names: readonly string[]): string {
  const page = random.pick(pagesOf(file, names));
  const start = (page - 1) * 16384;
  const bytes = readFileSync(file);
  const cell = random.below(bytes.readUInt16BE(start + 3));
  const at = start + bytes.readUInt16BE(start + 8 + 2 * cell) + random.below(40);
  bytes[at]! ^= 1 << random.below(8);
  writeFileSync(file, bytes);
  return `bit of byte ${at}, page ${page} of ${names}`;
}

function indexFile(directory: string, kind: string, random: Random): string {
  const files = readdirSync(derived(directory)).filter((name) => name === kind || name.endsWith(`.${kind}`));
  return path.join(derived(directory), random.pick(files));
}

/** The vector file of the first block of a database. */
function vectorFile(directory: string, id = 'own'): string {
  const [name] = readdirSync(vectors(directory, id)).sort();
  return path.join(vectors(directory, id), name as string);
}

/** Makes an index of SQLite that lacks some rows. */
function wrongIndex(directory: string): string {
  const name = 'versions';
  const file = store(directory);
  const schema = (text: string) =>
    sql(
      file,
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET sql = '${text}' WHERE name = '${name}'`,
    );
  schema('CREATE INDEX versions ON records (version) WHERE id > 1010');
  sql(file, `REINDEX ${name}`);
  schema('CREATE INDEX versions ON records (version)');
  return 'an index that lacks rows';
}

function replaced(to: string, from: string): string {
  copyFileSync(from, to);
  return `${to} from ${from}`;
}

/** Damages by kind. Each kind has several, of which one is drawn. */
export const DAMAGES: Readonly<Record<string, readonly Damage[]>> = {
  'a bit of the main file': [
    (directory, random) => flipCell(store(directory), random, ['records']),
    (directory, random) => flipCell(store(directory), random, ['contents']),
    (directory, random) => flipCell(store(directory), random, ['versions', 'sqlite_autoindex_records_1']),
    (directory, random) => flip(store(directory), random, 0, 20),
  ],
  'a main file that is cut off': [
    (directory, random) => truncate(store(directory), random),
    (directory) => {
      truncateSync(store(directory), 0);
      return 'empty main file';
    },
    (directory) => {
      rmSync(store(directory));
      return 'no main file';
    },
  ],
  'a value that another program changed': [
    (directory, random) =>
      run(directory, `UPDATE contents SET data = CAST('{"n":-1}' AS BLOB) WHERE id = ${anId(random)}`),
    (directory) => run(directory, 'UPDATE vectors SET vector = zeroblob(64) WHERE id = 7', 'killed'),
    (directory, random) => run(directory, `UPDATE records SET place = place + 1 WHERE id = ${anId(random)}`),
    (directory) => run(directory, 'UPDATE vector_files SET living = living + 1'),
    (directory, random) =>
      run(directory, `UPDATE records SET uuid = randomblob(16) WHERE id = ${anId(random)}`),
    (directory, random) =>
      run(directory, `UPDATE records SET synced = synced + 1 WHERE id = ${anId(random)}`),
    (directory, random) => run(directory, `UPDATE records SET created = 5 WHERE id = ${anId(random)}`),
    (directory, random) => run(directory, `UPDATE contents SET crc = crc + 1 WHERE id = ${anId(random)}`),
    (directory, random) => run(directory, `UPDATE records SET version = 999 WHERE id = ${anId(random)}`),
    (directory, random) =>
      run(directory, `UPDATE changes SET uuid = zeroblob(16) WHERE id = ${anId(random)}`),
    (directory, random) => run(directory, `UPDATE changes SET kind = 3 WHERE id = ${anId(random)}`),
    (directory) => run(directory, `UPDATE meta SET value = randomblob(52) WHERE key = 'state'`),
    (directory) => run(directory, `UPDATE meta SET value = CAST('{}' AS BLOB) WHERE key = 'settings'`),
    (directory) =>
      run(
        directory,
        `UPDATE meta SET value = CAST(replace(CAST(value AS TEXT), '"lexical":f', '"lexicaL":f') AS BLOB) WHERE key = 'settings'`,
      ),
    (directory) => run(directory, `UPDATE meta SET value = zeroblob(3) WHERE key = 'created_at'`),
    (directory) => run(directory, `UPDATE meta SET value = randomblob(16) WHERE key = 'store_id'`),
  ],
  'a row that is missing': [
    (directory, random) => run(directory, `DELETE FROM records WHERE id = ${anId(random)}`),
    (directory, random) => run(directory, `DELETE FROM contents WHERE id = ${anId(random)}`),
    (directory) => run(directory, 'DELETE FROM vectors WHERE id = 7', 'killed'),
    (directory) => run(directory, 'DELETE FROM vector_files'),
    (directory, random) =>
      run(directory, `DELETE FROM changes WHERE position = ${1001 + random.below(3000)}`),
    (directory) => run(directory, `DELETE FROM meta WHERE key = 'state'`),
    (directory) => run(directory, `DELETE FROM meta WHERE key = 'epoch'`),
    (directory) => run(directory, `DELETE FROM meta WHERE key = 'settings'`),
    (directory) => run(directory, 'DELETE FROM records WHERE id > 4000'),
  ],
  'an index that is wrong': [wrongIndex, (directory) => run(directory, 'DROP INDEX versions')],
  'an index file that is damaged': [
    ...['rows', 'codes', 'basis', 'snapshot'].flatMap((kind): Damage[] => [
      (directory, random) => flip(indexFile(directory, kind, random), random),
      (directory, random) => truncate(indexFile(directory, kind, random), random),
    ]),
    (directory, random) => {
      const file = indexFile(directory, 'rows', random);
      writeFileSync(file, '');
      return `${file} is empty`;
    },
  ],
  'a vector file that is damaged': [
    (directory, random) => flip(vectorFile(directory), random),
    (directory, random) => truncate(vectorFile(directory), random),
    (directory) => {
      const file = vectorFile(directory);
      rmSync(file);
      return `no ${file}`;
    },
    (directory) => replaced(vectorFile(directory), vectorFile(directory, 'other')),
  ],
  'a small file that is damaged': [
    ...['keys.json', 'webhooks.json', 'admin.key']
      .flatMap((name): Damage[] => [
        (directory, random) => flip(path.join(directory, name), random, 60, undefined),
        (directory, random) => truncate(path.join(directory, name), random),
        (directory) => {
          writeFileSync(path.join(directory, name), '');
          return `${name} is empty`;
        },
      ])
      .filter((_, at) => at !== 6),
    (directory, random) => flip(path.join(directory, 'databases/own/acknowledged'), random),
    (directory, random) => truncate(path.join(directory, 'databases/own/acknowledged'), random),
  ],
  'a file of another database': [
    (directory) => replaced(store(directory), store(directory, 'other')),
    (directory) => {
      rmSync(path.join(directory, 'databases/own'), { recursive: true });
      cpSync(path.join(directory, 'databases/other'), path.join(directory, 'databases/own'), {
        recursive: true,
      });
      return 'own is a copy of other';
    },
    (directory) => {
      rmSync(derived(directory), { recursive: true });
      cpSync(derived(directory, 'other'), derived(directory), { recursive: true });
      return 'index files of other';
    },
    (directory) => {
      const acknowledged = (id: string) => path.join(directory, 'databases', id, 'acknowledged');
      return replaced(acknowledged('own'), acknowledged('other'));
    },
    (directory) => {
      const names = readdirSync(derived(directory)).filter((name) => name.endsWith('.rows'));
      const [first, second] = names.map((name) => path.join(derived(directory), name)) as [string, string];
      renameSync(first, `${first}.x`);
      renameSync(second, first);
      renameSync(`${first}.x`, second);
      return `${first} and ${second} changed places`;
    },
    (directory) => {
      const names = readdirSync(derived(directory)).filter((name) => name.endsWith('.codes'));
      const [first, second] = names.map((name) => path.join(derived(directory), name)) as [string, string];
      copyFileSync(first, second);
      return `${second} from ${first}`;
    },
  ],
  'a log that lost commits': [
    (directory, random) => {
      const log = path.join(directory, 'databases/killed/records.sqlite-wal');
      return flip(log, random, 32, Math.floor(statSync(log).size / 2));
    },
    (directory) => {
      rmSync(path.join(directory, 'databases/killed/records.sqlite-wal'));
      return 'no log';
    },
    (directory) => {
      const log = path.join(directory, 'databases/killed/records.sqlite-wal');
      writeFileSync(log, Buffer.alloc(statSync(log).size, 0xab));
      return 'a log of garbage';
    },
    (directory, random) => {
      const log = path.join(directory, 'databases/killed/records.sqlite-wal');
      truncateSync(log, 32 + random.below(statSync(log).size - 20_000));
      return 'a log that is cut off';
    },
  ],
  'vectors that are not those of the texts': [
    (directory) => run(directory, changedSettings('"fingerprint":"', '"fingerprint":"0'), 'texts'),
    (directory) => run(directory, changedSettings('"embed":{}', '"embed":{"columns":["section"]}'), 'texts'),
    (directory) => {
      if (!existsSync(path.join(directory, 'moved'))) moveVectors(store(directory, 'texts'));
      return 'vectors of other records, with the right checksums';
    },
  ],
};

/** Replaces a part of the settings by other settings that are stored right: those without a checksum are valid, too. */
function changedSettings(part: string, by: string): string {
  const changed = `replace(CAST(value AS TEXT), '${part}', '${by}')`;
  return `UPDATE meta SET value = CAST(json_remove(${changed}, '$.crc') AS BLOB) WHERE key = 'settings'`;
}

/** Gives each record the vector of the next one, with the checksum that belongs to it. */
function moveVectors(file: string): void {
  const rows = sql(
    file,
    `SELECT r.id, r.uuid, r.hash, r.created, r.changed, c.data FROM records r JOIN contents c ON c.id = r.id ORDER BY r.id`,
  ) as [number, string, string, number, number, string][];
  // The vectors are in the second part of the only vector file, each with its checksum.
  const folder = path.join(path.dirname(file), 'vectors');
  const bytes = readFileSync(path.join(folder, readdirSync(folder)[0] as string));
  const length = 384 * 4;
  const start = bytes.length - rows.length * (length + 4);
  const statements = rows.flatMap(([id, uuid, hash, created, changed, data], at) => {
    const row = start + ((at + 1) % rows.length) * (length + 4);
    const vector = bytes.subarray(row, row + length);
    const number = (value: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    };
    const crc = crc32Of([
      number(id),
      Buffer.from(uuid, 'hex'),
      Buffer.from(hash, 'hex'),
      number(created),
      number(changed),
      number(data.length / 2),
      Buffer.from(data, 'hex'),
      vector,
    ]);
    return [
      `UPDATE contents SET crc = ${crc} WHERE id = ${id}`,
      `INSERT INTO vectors VALUES (${id}, x'${vector.toString('hex')}')`,
    ];
  });
  sql(file, ...statements, 'UPDATE records SET place = -2147483648', 'DELETE FROM vector_files');
}

function crc32Of(parts: readonly Buffer[]): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.concat(parts)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}
