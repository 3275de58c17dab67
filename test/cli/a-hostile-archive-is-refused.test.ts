import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { restore } from '../../src/cli/restore/restore.js';
import { open } from '../../src/index.js';
import type { Manifest } from '../../src/store/archive/index.js';
import {
  archiveOf,
  bytesOf,
  chunked,
  type Entry,
  entriesOf,
  manifestOf,
  sha256,
  testDirectory,
} from '../helpers/archives.js';
import { cosift } from '../helpers/processes.js';

const BLOCK = 512;

let archive: Buffer;
let entries: Entry[];

beforeAll(async () => {
  const directory = await testDirectoryOfSuite();
  const cosift = await open(directory);
  for (const id of ['facts', 'places']) {
    const database = await cosift.createDatabase(id, { dimensions: 2 });
    await database.upsert([{ id: 1, data: { name: id }, vector: [1, 0] }]);
  }
  archive = await bytesOf(cosift.backup());
  entries = await entriesOf(archive);
  await cosift.close();
});

async function testDirectoryOfSuite(): Promise<string> {
  const { mkdtemp } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  return mkdtemp(path.join(tmpdir(), 'cosift-hostile-'));
}

/** Restores `bytes` into a directory that does not exist, and checks that nothing is left of it. */
async function refuse(bytes: Uint8Array | Promise<Uint8Array>, expected: object): Promise<void> {
  const parent = await testDirectory();
  await expect(restore(chunked(await bytes), path.join(parent, 'data'))).rejects.toMatchObject(expected);
  expect(await readdir(parent)).toEqual([]);
}

/** The archive with a changed manifest, and other entries if `change` returns any. */
function changed(change: (manifest: Manifest, entries: Entry[]) => Entry[] | undefined): Promise<Buffer> {
  const copies = entries.map(({ name, content }) => ({ name, content: Buffer.from(content) }));
  const manifest = manifestOf(copies);
  const [first, ...others] = copies;
  const rest = change(manifest, others) ?? others;
  return archiveOf([{ name: first?.name ?? '', content: Buffer.from(JSON.stringify(manifest)) }, ...rest]);
}

const damaged = { code: 'damaged' };

test('an archive that nobody changed is restored, from chunks of any size', async () => {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0, size = 1; at < archive.length; at += size, size = (size * 7) % 4099) {
      yield archive.subarray(at, at + size);
    }
  }
  const directory = await testDirectory();
  await restore(pieces(), directory);
  const cosift = await open(directory);
  expect(await cosift.database('places').get(1)).toMatchObject({ id: 1, data: { name: 'places' } });
  await cosift.close();
});

test('an archive that is cut anywhere is refused', async () => {
  const cuts = [
    0,
    1,
    BLOCK - 1,
    BLOCK,
    archive.length - 1,
    archive.length - 2 * BLOCK,
    archive.length - BLOCK,
  ];
  for (let at = 700; at < archive.length; at += Math.floor(archive.length / 11)) cuts.push(at);
  for (const cut of cuts) {
    const reason = cut < BLOCK ? 'is not a tar archive' : 'ends early';
    await refuse(archive.subarray(0, cut), { code: 'damaged', detail: expect.stringContaining(reason) });
  }
});

test('a bit that changed in a file is found', async () => {
  const [, store] = entries;
  const start = archive.indexOf(store?.content ?? '');
  for (const at of [start, start + 5000, archive.length - 2 * BLOCK - 1000]) {
    const flipped = Buffer.from(archive);
    flipped[at] = (flipped[at] ?? 0) ^ 4;
    await refuse(flipped, { code: 'damaged', detail: expect.stringContaining('checksum of databases/') });
  }
});

describe('a manifest that does not match is refused', () => {
  const path = (path: string) =>
    changed((manifest, [store, ...others]) => {
      Object.assign(manifest.files[0] ?? {}, { path });
      return [{ name: path, content: store?.content ?? Buffer.alloc(0) }, ...others];
    });
  test.each([
    ['a path out of the directory', /manifest .* not valid/, () => path('databases/../../escaped')],
    ['an absolute path', /manifest .* not valid/, () => path('/tmp/escaped')],
    ['a path that no backup has', /manifest .* not valid/, () => path('admin.key')],
    [
      'an entry twice',
      /does not contain databases\/places/,
      () => changed((_, others) => [...others.slice(0, 1), ...others]),
    ],
    ['a missing entry', /does not contain databases\/facts/, () => changed((_, others) => others.slice(1))],
    [
      'an extra entry',
      /contains "extra"/,
      () => changed((_, all) => [...all, { name: 'extra', content: Buffer.from('x') }]),
    ],
    [
      'entries in another order',
      /does not contain databases\/facts/,
      () => changed((_, all) => all.reverse()),
    ],
    [
      'a file of another size',
      /does not contain databases\/facts/,
      () => changed(({ files }) => void Object.assign(files[0] ?? {}, { bytes: 5 })),
    ],
    [
      'a huge size',
      /manifest .* not valid/,
      () => changed(({ files }) => void Object.assign(files[0] ?? {}, { bytes: 2 ** 53 })),
    ],
    [
      'the same file twice',
      /manifest .* not valid/,
      () => changed(({ files }) => void files.push(files[0] as never)),
    ],
    ['a database without a file', /manifest .* not valid/, () => changed(({ files }) => void files.pop())],
    [
      'another number of records',
      /not the database that the manifest describes/,
      () => changed(({ databases: [first] }) => void Object.assign(first ?? {}, { records: 7 })),
    ],
    [
      'an earlier position',
      /goes on after the position/,
      () => changed(({ databases: [first] }) => void Object.assign(first ?? {}, { position: 0 })),
    ],
    [
      'no format',
      /manifest .* not valid/,
      () => changed((manifest) => void Object.assign(manifest, { format: undefined })),
    ],
  ])('%s', async (_, detail, make) =>
    refuse(make(), { code: 'damaged', detail: expect.stringMatching(detail) }),
  );
});

test('a store that is no store, or has a damaged record, is refused although its checksum matches', async () => {
  const replace = (content: Buffer) =>
    changed(({ files }, all) => {
      Object.assign(files[0] ?? {}, { bytes: content.length, sha256: sha256(content) });
      return [{ name: files[0]?.path ?? '', content }, ...all.slice(1)];
    });
  await refuse(replace(Buffer.from('text')), damaged);
  const store = Buffer.from(entries[1]?.content ?? '');
  const at = store.indexOf('{"name":"facts"}');
  expect(at).toBeGreaterThan(0);
  store.write('{"name":"faked"}', at);
  await refuse(replace(store), damaged);
});

test('a link, a directory and a name with a prefix are refused', async () => {
  const header = archive.subarray(0, BLOCK);
  for (const [at, byte] of [
    [156, '2'],
    [156, '1'],
    [156, '5'],
    [345, 'x'],
    [0, 'M'],
    [148, '7'],
  ] as const) {
    const forged = Buffer.from(header);
    forged.write(byte, at);
    if (at !== 148) {
      forged.write(' '.repeat(8), 148);
      const sum = forged.reduce((sum, value) => sum + value, 0);
      forged.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    }
    await refuse(Buffer.concat([forged, archive.subarray(BLOCK)]), damaged);
  }
});

test('an archive of a newer format is refused with the version to use', async () => {
  const newer = await changed((manifest) => void Object.assign(manifest, { format: 2, cosift: '9.1.0' }));
  await refuse(newer, { code: 'invalid_request', detail: expect.stringContaining('cosift 9.1.0') });
});

test('a directory that is not empty stays as it was', async () => {
  const directory = await testDirectory();
  await mkdir(path.join(directory, 'databases'));
  await writeFile(path.join(directory, 'keys.json'), 'mine');
  await expect(restore(chunked(archive), directory)).rejects.toMatchObject({ code: 'invalid_request' });
  expect((await readdir(directory)).sort()).toEqual(['databases', 'keys.json']);
});

test('a restore that was killed is refused by the service until it is repeated', async () => {
  const directory = await testDirectory();
  await mkdir(path.join(directory, '.restore/databases'), { recursive: true });
  await writeFile(path.join(directory, 'keys.json'), 'of the archive');
  await expect(open(directory)).rejects.toMatchObject({
    code: 'not_ready',
    detail: expect.stringContaining('run it again'),
  });
  for (const command of [
    ['query', 'd'],
    ['databases', 'list'],
    ['export', '--database', 'd'],
  ]) {
    expect(await cosift(...command, '--data', directory)).toMatchObject({
      code: 1,
      stderr: `cosift: a restore into ${directory} was not finished: run it again\n`,
    });
  }
  const doctor = await cosift('doctor', '--data', directory);
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('was not finished') });
  await restore(chunked(archive), directory);
  expect((await readdir(directory)).sort()).toEqual(['databases', 'lock']);
  // Killed after the databases took their place.
  await mkdir(path.join(directory, '.restore'));
  const library = await open(directory);
  expect((await library.databases()).map(({ records }) => records)).toEqual([1, 1]);
  await library.close();
  expect(await readdir(directory)).not.toContain('.restore');
});

test('a file in place of the directory is named', async () => {
  const file = path.join(await testDirectory(), 'file');
  await writeFile(file, '');
  for (const directory of [file, path.join(file, 'inside')]) {
    await expect(restore(chunked(archive), directory)).rejects.toMatchObject({
      code: 'invalid_request',
      detail: `${directory} is not a directory, or is inside of a file`,
    });
  }
});

test('a compressed archive is named', async () => {
  const directory = await testDirectory();
  await expect(restore(chunked(gzipSync(archive)), directory)).rejects.toMatchObject({
    code: 'damaged',
    detail: 'it is compressed: decompress it first, with gunzip',
  });
});

test('bytes after the end are refused, except for padding with zeros', async () => {
  const after = { code: 'damaged', detail: expect.stringContaining('continues after its end') };
  await refuse(Buffer.concat([archive, archive]), after);
  await refuse(Buffer.concat([archive, Buffer.from('x')]), after);
  await restore(chunked(Buffer.concat([archive, Buffer.alloc(9 * BLOCK)])), await testDirectory());
});

test('a time that is none is refused, because it is printed', async () => {
  for (const created_at of ['\u001b[2J', '2026-01-01', '2026-13-01T00:00:00.000Z']) {
    await refuse(
      changed((manifest) => void Object.assign(manifest, { created_at })),
      damaged,
    );
  }
});

test('damaged keys are restored with a warning', async () => {
  const keys = Buffer.from('garbage');
  const file = { path: 'keys.json', bytes: keys.length, sha256: sha256(keys) };
  const bytes = await changed(({ files }, others) => {
    files.push(file);
    return [...others, { name: 'keys.json', content: keys }];
  });
  const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const directory = await testDirectory();
  await restore(chunked(bytes), directory);
  expect(written.mock.calls).toEqual([[expect.stringMatching(/^cosift: warning: the keys .*keys\.json/)]]);
  written.mockRestore();
  expect(await readdir(directory)).toContain('keys.json');
});

test('one restore at a time fills a directory, and others wait for it', async () => {
  const directory = path.join(await testDirectory(), 'data');
  const steps = new EventEmitter();
  const half = once(steps, 'half');
  const rest = once(steps, 'rest');
  async function* halves(): AsyncGenerator<Uint8Array> {
    yield archive.subarray(0, archive.length / 2);
    steps.emit('half');
    await rest;
    yield archive.subarray(archive.length / 2);
  }
  const first = restore(halves(), directory);
  await half;
  await expect(restore(chunked(archive), directory)).rejects.toMatchObject({ code: 'data_locked' });
  await expect(open(directory)).rejects.toMatchObject({
    code: 'not_ready',
    detail: expect.stringContaining('is running'),
  });
  steps.emit('rest');
  await first;
  await expect(restore(chunked(archive), directory)).rejects.toMatchObject({ code: 'invalid_request' });
  const cosift = await open(directory);
  expect((await cosift.databases()).map(({ records }) => records)).toEqual([1, 1]);
  await cosift.close();
});
