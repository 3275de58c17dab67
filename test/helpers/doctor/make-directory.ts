import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabases } from '../../../src/databases/index.js';
import { writeChecked } from '../../../src/files/checked-file.js';
import { writeSecret } from '../../../src/files/secret-file.js';
import { Cosift } from '../../../src/library/cosift.js';
import { KEYS_FILE } from '../../../src/server/keys/key-file.js';
import { generateKey, hashKey } from '../../../src/server/keys/key-format.js';
import { WEBHOOKS_FILE } from '../../../src/server/webhooks/webhook-file.js';
import { Random } from '../random.js';

const DIMENSIONS = 16;

/** A log with all commits of {@link WRITE_AND_DIE} has more bytes, about 450,000. */
const MIN_LOG_BYTES = 350_000;

const LIBRARY = fileURLToPath(new URL('../../../dist/index.js', import.meta.url));

/** Commits each array of records of its input to the database `killed`, and kills its process. */
const WRITE_AND_DIE = `
  import { readFileSync } from 'node:fs';
  import { open } from ${JSON.stringify(LIBRARY)};
  const batches = JSON.parse(readFileSync(0, 'utf8'));
  const cosift = await open(process.argv[1]);
  for (const records of batches) await cosift.database('killed').upsert(records);
  process.kill(process.pid, 'SIGKILL');
`;

/** Makes a data directory with all that a doctor may find damaged; `directory` must not exist. */
export async function makeDirectory(directory: string): Promise<void> {
  const random = new Random(1);
  const live = `${directory}-live`;
  mkdirSync(live, { recursive: true });
  const cosift = new Cosift(await openDatabases({ directory: live, embedWorkers: 1 }));
  const vector = () => Array.from({ length: DIMENSIONS }, () => random.below(2001) / 1000 - 1);
  const record = (id: number) => {
    return { id, data: { n: id % 7, name: `record ${id}`, even: id % 2 === 0 }, vector: vector() };
  };
  for (const id of ['own', 'other', 'killed']) {
    const database = await cosift.createDatabase(id, { dimensions: DIMENSIONS });
    if (id === 'killed') continue;
    await database.upsert(Array.from({ length: 5000 }, (_, at) => record(at + 1)));
    // Records 1 to 1000 are changed or deleted, so the feed has changes of every kind.
    await database.upsert(Array.from({ length: 300 }, (_, at) => record(at + 1)));
    await database.delete({ ids: Array.from({ length: 200 }, (_, at) => at + 500) });
  }
  const texts = await cosift.createDatabase('texts');
  const words = ['tower', 'lake', 'bread', 'comet', 'violin', 'harbour', 'glacier', 'tax', 'beetle', 'opera'];
  await texts.upsert(
    words.map((word, at) => ({
      id: at + 1,
      data: { text: `${word} of ${words[(at * 3 + 1) % 10]}`, section: `s${at}` },
    })),
  );
  await cosift.close();
  // A process that is killed leaves its last commits in the log. On a busy machine, it may have been idle for so long
  // before that it has moved commits from the log into the main file.
  const log = path.join(live, 'databases/killed/records.sqlite-wal');
  do {
    const batches = Array.from({ length: 4 }, (_, batch) =>
      Array.from({ length: 50 }, (_, at) => record(batch * 50 + at + 1)),
    );
    const options = { input: JSON.stringify(batches), encoding: 'utf8' } as const;
    const { signal, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', WRITE_AND_DIE, live],
      options,
    );
    if (signal !== 'SIGKILL') throw new Error(stderr);
  } while (statSync(log).size < MIN_LOG_BYTES);
  cpSync(live, directory, { recursive: true });
  const { keyId, key } = generateKey();
  await writeSecret(path.join(directory, 'admin.key'), `${generateKey().key}\n`);
  await writeChecked(
    path.join(directory, 'keys.json'),
    [
      {
        key_id: keyId,
        name: 'website',
        actions: ['search'],
        databases: '*',
        ancestors: [],
        created_at: '2026-01-01T00:00:00.000Z',
        sha256: hashKey(key).toString('hex'),
      } as never,
    ],
    KEYS_FILE,
  );
  await writeChecked(path.join(directory, 'webhooks.json'), [], WEBHOOKS_FILE);
}
