import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineDirectory } from '../../src/databases/index.js';
import type { DoctorCheck } from '../../src/schema/index.js';
import { checkFiles } from '../../src/server/doctor/check-files.js';
import { DAMAGES } from '../helpers/doctor/damages.js';
import { HEALTHY } from '../helpers/doctor/healthy.js';
import { makeDirectory } from '../helpers/doctor/make-directory.js';
import { sql } from '../helpers/doctor/sql.js';
import { inFull } from '../helpers/full.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';
import { Random } from '../helpers/random.js';

/** Rounds of each kind. A round draws another damage of the kind, or another place. */
const ROUNDS = Number(process.env.DOCTOR_ROUNDS ?? inFull(2, 1));

let root: string;
let sound: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'cosift-doctor-'));
  sound = path.join(root, 'sound');
  await makeDirectory(sound);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function copy(): Promise<string> {
  const directory = path.join(await temporaryDirectory(), 'data');
  cpSync(sound, directory, { recursive: true });
  return directory;
}

async function examine(directory: string, repair = false): Promise<DoctorCheck[]> {
  const checks = [];
  const files = () => checkFiles(directory);
  for await (const check of examineDirectory({ directory, repair, files }, {})) checks.push(check);
  return checks;
}

const unwell = (checks: readonly DoctorCheck[]) => checks.filter(({ status }) => status !== 'ok');

/** A hash of the names and contents of all files. */
function hashOf(directory: string): string {
  const hash = createHash('sha256');
  for (const name of (readdirSync(directory, { recursive: true }) as string[]).sort()) {
    hash.update(`${name}\0`);
    const file = path.join(directory, name);
    if (statSync(file).isFile()) hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

test.each(Object.entries(DAMAGES))('%s', async (kind, damages) => {
  for (let round = 0; round < ROUNDS; round++) {
    const directory = await copy();
    const seed = round * 100 + kind.length;
    const what = damages[round % damages.length]!(directory, new Random(seed));
    const found = unwell(await examine(directory));
    expect(found, `${what}, seed ${seed}`).not.toEqual([]);
    for (const check of found) {
      expect(check).toMatchObject({ status: 'problem', advice: expect.any(String) });
      expect(check.problems, what).not.toEqual([]);
    }
  }
});

test('nothing is reported of directories that are in order, and nothing in them changes', async () => {
  const kinds = Object.keys(HEALTHY);
  // What has no index files cannot lack one of them.
  const alone = ['as it was left'];
  const others = ['without index files'];
  const rest = kinds.filter((kind) => !alone.includes(kind) && !others.includes(kind));
  for (const together of inFull(
    kinds.map((kind) => [kind]),
    [alone, others, rest],
  )) {
    const kind = together.join(', ');
    for (let round = 0; round < Math.max(1, ROUNDS / 2); round++) {
      const directory = await copy();
      const what = together.map((one) => HEALTHY[one]!(directory, new Random(round + 1))).join(', ');
      const before = hashOf(directory);
      expect(unwell(await examine(directory)), `${kind}: ${what}`).toEqual([]);
      expect(hashOf(directory), kind).toBe(before);
    }
  }
});

test('the records that are affected are named', async () => {
  const directory = await copy();
  const store = path.join(directory, 'databases/own/records.sqlite');
  sql(store, `UPDATE contents SET data = CAST('{}' AS BLOB) WHERE id IN (1500, 1600)`);
  const found = unwell(await examine(directory));
  const records = found.find(({ check }) => check === 'records');
  expect(records?.problems).toContainEqual({
    detail: 'the checksum of the record does not match',
    records: 2,
    ids: [1500, 1600],
  });
});

test('a repair makes again what is derived, and the next examination finds nothing', async () => {
  for (const kind of ['an index file that is damaged', 'an index that is wrong']) {
    const directory = await copy();
    DAMAGES[kind]![0]!(directory, new Random(7));
    const repaired = unwell(await examine(directory, true));
    expect(
      repaired.map(({ status }) => status),
      kind,
    ).toEqual(repaired.map(() => 'repaired'));
    expect(repaired).not.toEqual([]);
    expect(unwell(await examine(directory)), kind).toEqual([]);
  }
});

test('a repair counts the records again only where the change feed proves that none is missing', async () => {
  const counted = await copy();
  sql(path.join(counted, 'databases/own/records.sqlite'), `DELETE FROM meta WHERE key = 'state'`);
  expect(unwell(await examine(counted, true))).toMatchObject([{ check: 'count', status: 'repaired' }]);
  expect(unwell(await examine(counted))).toEqual([]);
  const lost = await copy();
  const store = path.join(lost, 'databases/own/records.sqlite');
  sql(store, 'DELETE FROM records WHERE id = 1234', 'DELETE FROM contents WHERE id = 1234');
  const found = unwell(await examine(lost, true));
  expect(found.map(({ check, status }) => `${check} ${status}`)).toEqual(
    expect.arrayContaining(['count problem', 'changes problem']),
  );
  const changes = found.find(({ check }) => check === 'changes');
  expect(changes?.problems?.[0]?.ids).toEqual([1234]);
});

test('the exit code says whether there are problems', async () => {
  const directory = await copy();
  const well = await cosift('doctor', '--data', directory);
  expect(well).toMatchObject({ code: 0, stderr: '' });
  expect(well.stdout).toMatch(/own: records +4800 records match their checksums/);
  DAMAGES['a row that is missing']![0]!(directory, new Random(3));
  const unsound = await cosift('doctor', '--data', directory, '--json');
  expect(unsound.code).toBe(1);
  const checks = unsound.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as DoctorCheck);
  expect(unwell(checks)).not.toEqual([]);
  const missing = await cosift('doctor', '--data', path.join(directory, 'none'));
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/there is no data directory/) });
});
