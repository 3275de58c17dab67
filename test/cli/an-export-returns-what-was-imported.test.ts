import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { open } from '../../src/index.js';
import { inFull } from '../helpers/full.js';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

/** `ROWS=50000` makes the file as large as an export of a spreadsheet may be. */
const ROWS = Number(process.env.ROWS ?? inFull(1_500, 300));
/** The records of an export that takes so long that it can be stopped. */
const MANY = inFull(2_000, 1_000);
/** Records with keys, with UUIDs and with integer ids. */
const IDENTITIES = inFull(600, 300);
const TIMEOUT = 300_000 + ROWS * 20;

/** A table of what is easily changed on the way. Every third row has no id. */
function table(): string[][] {
  const header = [
    'id',
    'code',
    'digits',
    'version',
    'day',
    'text',
    'emoji',
    'price',
    'flag',
    'mixed',
    'a;b',
    'cents',
    'float',
    'rate',
    'open',
    'note',
  ];
  const rows = Array.from({ length: ROWS }, (_, at) => [
    at % 3 === 0 ? '' : String(2 * (ROWS - at)),
    String(at).padStart(6, '0'),
    String(10n ** 19n + BigInt(at)),
    `1.${at % 10}.0${at % 3}`,
    `2024-0${1 + (at % 9)}-1${at % 10}`,
    ['plain', `said "${at}",\nthen; left\r\n`, " 'quoted' ", '\ttab | bar', '{"a":1}', 'NULL'][at % 6]!,
    at % 5 === 0 ? `😀👩‍👩‍👧 é ${at}` : '',
    at % 7 === 0 ? '' : String(at / 8),
    at % 11 === 0 ? '' : String(at % 2 === 0),
    at % 3 === 0 ? `t${at}` : String(at),
    at % 4 === 0 ? '1;2' : '',
    at % 13 === 0 ? '' : (at / 4).toFixed(2),
    at % 4 === 0 ? `${at}.0` : `${at / 8}`.replace(/^\d+$/, '$&.0'),
    `.${String(at % 1000).padStart(3, '0')}`,
    at % 3 === 0 ? 'True' : 'False',
    // Only this column is embedded.
    at === 5 ? 'a tower in Paris' : '',
  ]);
  return [header, ...rows];
}

const quoted = (field: string) => (/[",;|'\r\n\t]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
const csvOf = (rows: string[][]) => rows.map((row) => `${row.map(quoted).join(',')}\n`).join('');
const parsed = (text: string): string[][] => parse(text, { relax_column_count: false });

/** The rows in the order of their code, without the columns that the import or the export added. */
function cellsOf(rows: string[][], names: readonly string[]): string[][] {
  const [header = [], ...records] = rows;
  const places = names.map((name) => header.indexOf(name));
  const code = header.indexOf('code');
  return records
    .sort((a, b) => (a[code]! < b[code]! ? -1 : 1))
    .map((record) => places.map((at) => record[at]!));
}

/** Records with keys, with UUIDs of their own, and with only an integer id, in an order that is not that of the ids. */
function identities(count: number): string {
  const keys = [
    'SKU-1',
    '007',
    'größe/✓ 😀',
    ' spaced ',
    'a "quote", and\nmore',
    "'",
    '{"a":1}',
    '{{key}}',
    '1.10',
  ];
  const rows = Array.from({ length: count }, (_, at) => {
    const id = at % 5 === 0 ? {} : { id: ((at * 7) % count) + 1 };
    const identity = [
      { ...id, key: at < keys.length * 3 ? keys[at / 3] : `key ${at}` },
      { ...id, uuid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}` },
      { id: ((at * 7) % count) + 1 },
    ][at % 3];
    const time = new Date(at * 1_000).toISOString();
    const data = { n: at, empty: at % 2 === 0 ? '' : 'x', ...(at % 4 === 0 && { none: null }) };
    const timestamps = { created_at: time, changed_at: time, synced_at: time };
    return JSON.stringify({ ...identity, data, timestamps, vector: [Math.cos(at), Math.sin(at)] });
  });
  return `${rows.join('\n')}\n`;
}

/** What Parquet keeps of an export: no times, and no difference between a missing value and null. */
function contentOf(text: string): unknown[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const { timestamps: _, data, ...rest } = JSON.parse(line);
    const present = Object.entries(data).filter(([, value]) => value !== null);
    return { ...rest, data: Object.fromEntries(present) };
  });
}

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await cosift(...args);
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
}

test('a CSV file is equal in every cell after an import and an export, through every format', {
  timeout: TIMEOUT,
}, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const rows = table();
  const [header = []] = rows;
  await writeFile(join(directory, 'in.csv'), csvOf(rows));
  const source = ['import', join(directory, 'in.csv'), '--database', 'first', '--embed', 'note', ...data];
  expect((await run(...source)).stdout).toContain(`${ROWS.toLocaleString('en-US')} created`);
  expect((await run(...source)).stdout).toContain(': 0 created, 0 changed');

  const csv = join(directory, 'out.csv');
  await run('export', '--database', 'first', '--output', csv, ...data);
  const exported = parsed(await readFile(csv, 'utf8'));
  const [names = []] = exported;
  expect(names.slice(0, 2)).toEqual(['id', 'uuid']);
  const withoutId = header.filter((name) => name !== 'id');
  expect(cellsOf(exported, withoutId)).toEqual(cellsOf(rows, withoutId));
  // Rows that had an id have it still, and the others have one now.
  const given = cellsOf(rows, ['code', 'id']).filter(([, id]) => id !== '');
  const ids = new Map(cellsOf(exported, ['code', 'id']) as [string, string][]);
  for (const [code, id] of given) expect(ids.get(code!)).toBe(id);
  expect(new Set(ids.values()).size).toBe(ROWS);

  const shown = await run('databases', 'show', 'first', '--json', ...data);
  const { formats, columns } = JSON.parse(shown.stdout);
  expect(formats).toEqual({ cents: '0.00', float: 'python', rate: '.000', open: 'True' });
  const typeOf = (name: string) => columns.find((column: { name: string }) => column.name === name).types;
  for (const name of ['price', 'cents', 'float', 'rate']) expect(typeOf(name), name).toContain('number');
  for (const name of ['code', 'digits', 'version']) expect(typeOf(name), name).toEqual(['string']);

  for (const format of inFull(['csv.gz', 'ndjson', 'ndjson.gz', 'parquet'], ['ndjson.gz', 'parquet'])) {
    const file = join(directory, `out.${format}`);
    await run('export', '--database', 'first', '--output', file, ...data);
    const database = format.replace('.', '-');
    // The formats of columns are settings, which only CSV shows by its values.
    if (!format.startsWith('csv')) {
      await using cosift = await open(join(directory, 'data'));
      await cosift.createDatabase(database, { embed: { columns: ['note'] }, formats });
    }
    const target = ['import', file, '--database', database, '--embed', 'note', ...data];
    expect((await run(...target)).stdout, format).toContain(`${ROWS.toLocaleString('en-US')} created`);
    if (format === 'parquet') {
      expect((await run(...target)).stdout).toContain(': 0 created, 0 changed');
    }
    const again = await run('export', '--database', database, '--format', 'csv', ...data);
    expect(again.stdout === (await readFile(csv, 'utf8')), `${format} returns the same CSV`).toBe(true);
    if (!format.startsWith('ndjson')) continue;
    const bytes = await readFile(file);
    const text = (format === 'ndjson' ? bytes : gunzipSync(bytes)).toString();
    const same = await run('export', '--database', database, ...data);
    const withoutTime = (line: string) => line.replace(/,"synced_at":"[^"]*"/, '');
    expect(same.stdout.split('\n').map(withoutTime)).toEqual(text.split('\n').map(withoutTime));
  }
  expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('vectors come back bit for bit through NDJSON and Parquet, with a model and without one', {
  timeout: TIMEOUT,
}, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const own = join(directory, 'own.ndjson');
  await writeFile(own, lines(1, 300));
  const texts = join(directory, 'texts.ndjson');
  await writeFile(
    texts,
    '{"id":1,"data":{"text":"a tower"}}\n{"id":2,"data":{"text":"a violin","n":1}}\n{"data":{}}\n',
  );
  for (const [file, settings] of [
    [own, ['--dimensions', '4']],
    [texts, []],
  ] as const) {
    const name = file === own ? 'own' : 'texts';
    await run('import', file, '--database', name, ...settings, ...data);
    const whole = await run('export', '--database', name, '--vectors', ...data);
    for (const format of ['ndjson', 'parquet']) {
      const copy = join(directory, `${name}.copy.${format}`);
      await run('export', '--database', name, '--vectors', '--output', copy, ...data);
      await run('import', copy, '--database', `${name}-${format}`, ...settings, ...data);
      const again = await run('export', '--database', `${name}-${format}`, '--vectors', ...data);
      expect(format === 'ndjson' ? again.stdout : contentOf(again.stdout), `${name} ${format}`).toEqual(
        format === 'ndjson' ? whole.stdout : contentOf(whole.stdout),
      );
    }
  }
});

test('keys, UUIDs and ids come back through every format, with vectors and without', {
  timeout: TIMEOUT,
}, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const own = ['--dimensions', '2'];
  const file = join(directory, 'in.ndjson');
  await writeFile(file, identities(IDENTITIES));
  await run('import', file, '--database', 'first', ...own, ...data);
  const whole = (await run('export', '--database', 'first', '--vectors', ...data)).stdout;
  const records = whole.trimEnd().split('\n');
  const keyed = records.map((line) => JSON.parse(line)).filter(({ key }) => key !== undefined);
  expect(keyed).toHaveLength(IDENTITIES / 3);

  // NDJSON: equal in every member, and so in pages and cursors.
  for (const vectors of [[], ['--vectors']]) {
    const name = `ndjson${vectors.length}`;
    const copy = join(directory, `${name}.ndjson`);
    await run('export', '--database', 'first', '--output', copy, ...vectors, ...data);
    const settings = vectors.length > 0 ? own : ['--embed', 'none'];
    await run('import', copy, '--database', name, ...settings, ...data);
    const again = await run('export', '--database', name, ...vectors, ...data);
    expect(again.stdout).toBe(await readFile(copy, 'utf8'));
  }
  const opened = await open(join(directory, 'data'));
  try {
    for (const limit of [7, 100]) {
      const pages = [];
      for (const id of ['first', 'ndjson1']) {
        const database = opened.database(id);
        for (const ask of [
          (cursor?: string) => database.search({ vector: [1, 0.5] }, { threshold: 0, limit, cursor }),
          (cursor?: string) => database.query({ limit, cursor }),
        ]) {
          const first = await ask();
          pages.push([first, await ask(first.pagination.next_cursor ?? undefined)]);
        }
      }
      expect(pages.slice(2)).toEqual(pages.slice(0, 2));
      expect(JSON.stringify(pages)).toContain('"key"');
    }
  } finally {
    await opened.close();
  }

  // CSV and Parquet: equal in identities and data.
  for (const [format, vectors] of [
    ['csv', []],
    ['parquet', []],
    ['parquet', ['--vectors']],
  ] as const) {
    const name = `${format}${vectors.length}`;
    const copy = join(directory, `${name}.${format}`);
    const { stderr } = await run('export', '--database', 'first', '--output', copy, ...vectors, ...data);
    expect(stderr).not.toContain('warning');
    const settings = vectors.length > 0 ? own : ['--embed', 'none'];
    const { stdout } = await run('import', copy, '--database', name, ...settings, ...data);
    expect(stdout).toContain(`${IDENTITIES} created`);
    expect(stdout).toContain(
      'identity: the column "id" (integer ids), and the column "uuid", and the column "key"',
    );
    const again = await run('export', '--database', name, ...vectors, ...data);
    const expected =
      vectors.length > 0 ? whole : (await run('export', '--database', 'first', ...data)).stdout;
    expect(contentOf(again.stdout), name).toEqual(contentOf(expected));
    if (format !== 'csv') continue;
    // A pipe decides from its beginning, which may have no key.
    const piped = new Command(['import', '-', '--database', 'piped', ...settings, ...data]);
    const [header, ...rows] = (await readFile(copy, 'utf8')).split(/\n(?=\d+,)/);
    const withoutKey = Array.from(
      { length: IDENTITIES },
      (_, at) => `${1_000 + at},,,${at},"${'x'.repeat(1_000)}",`,
    );
    piped.child.stdin.end([header, ...withoutKey, ...rows].join('\n'));
    expect(await piped.ended(), piped.stderr).toBe(0);
    const found = (await run('export', '--database', 'piped', ...data)).stdout.trimEnd().split('\n');
    expect(contentOf(`${found.slice(0, IDENTITIES).join('\n')}\n`)).toEqual(contentOf(expected));
    expect(found).toHaveLength(2 * IDENTITIES);
  }
});

test('a column key of the data stays data', { timeout: TIMEOUT }, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const file = join(directory, 'in.csv');
  await writeFile(file, 'key,text\nA-17,a hat\nB-04,\n');
  await run('import', file, '--database', 'same', '--id-column', 'key', ...data);
  const other = join(directory, 'in.ndjson');
  await writeFile(other, '{"key":"A-17","data":{"key":"mine"}}\n{"key":"B-04","data":{"key":"too"}}\n');
  await run('import', other, '--database', 'other', ...data);
  for (const [name, warning] of [
    ['same', ''],
    ['other', 'so the file lacks the key of the records'],
  ] as const) {
    const before = (await run('export', '--database', name, ...data)).stdout;
    for (const format of ['csv', 'parquet']) {
      const copy = join(directory, `${name}.${format}`);
      const { stderr } = await run('export', '--database', name, '--output', copy, ...data);
      expect(stderr).toContain(warning);
      if (warning === '') expect(stderr).not.toContain('the file lacks');
      await run('import', copy, '--database', `${name}-${format}`, ...data);
      const after = (await run('export', '--database', `${name}-${format}`, ...data)).stdout;
      const withoutKey = (text: string) => (warning === '' ? text : text.replace(/"key":"[AB]-\d+",/g, ''));
      expect(contentOf(after)).toEqual(contentOf(withoutKey(before)));
    }
  }
});

test('CSV tells an empty text from no value', { timeout: TIMEOUT }, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const file = join(directory, 'in.csv');
  // Some programs put every field in quotes, so an empty one in a column of numbers is no text.
  await writeFile(file, 'id,text,number,flag\n1,"",1,true\n2,,"",""\n3,x,,\n');
  const types = await run('import', file, '--database', 'db', '--embed', 'text', ...data);
  expect(types.stdout).toContain('text: text; number: number; boolean: flag');
  const whole = await run('export', '--database', 'db', ...data);
  expect(
    whole.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).data),
  ).toEqual([
    { text: '', number: 1, flag: true },
    { text: null, number: null, flag: null },
    { text: 'x', number: null, flag: null },
  ]);
  const csv = join(directory, 'out.csv');
  await run('export', '--database', 'db', '--output', csv, ...data);
  expect(await readFile(csv, 'utf8')).toContain(',"",1,true\n');
  await run('import', csv, '--database', 'copy', '--embed', 'text', ...data);
  expect(contentOf((await run('export', '--database', 'copy', ...data)).stdout)).toEqual(
    contentOf(whole.stdout),
  );
});

test('a server is exported like a directory, and a filter applies', { timeout: TIMEOUT }, async () => {
  const data = await temporaryDirectory();
  const { url, command } = await serve(data);
  const server = ['--url', url, '--key', KEY];
  const file = join(data, 'some.ndjson');
  await writeFile(file, lines(1, 2_000));
  await run('import', file, '--database', 'db', '--dimensions', '4', ...server);
  const where = ['--where', 'number > 10 and number <= 20'];
  const some = await run('export', '--database', 'db', '--vectors', ...where, ...server);
  expect(some.stdout.split('\n')).toHaveLength(11);
  expect(some.stderr).toContain('10 records in');
  const misspelt = await run('export', '--database', 'db', '--where', 'numbr > 10', ...server);
  expect(misspelt.stderr).toContain('no record has a column "numbr"; did you mean "number"?');
  const csv = await run('export', '--database', 'db', '--format', 'csv', ...where, ...server);
  expect(parsed(csv.stdout).map((row) => row.slice(2))).toEqual([
    ['name', 'number'],
    ...Array.from({ length: 10 }, (_, at) => [`record ${at + 11}`, String(at + 11)]),
  ]);
  const whole = await run('export', '--database', 'db', ...server);
  command.child.kill('SIGTERM');
  await command.ended();
  expect(await run('export', '--database', 'db', '--data', data)).toMatchObject({ stdout: whole.stdout });
});

test('a file is replaced only by a whole one', { timeout: TIMEOUT }, async () => {
  const data = await temporaryDirectory();
  const { url, command } = await serve(data);
  const server = ['--url', url, '--key', KEY];
  const target = join(data, 'out.ndjson');
  await writeFile(target, 'as it was\n');
  const file = join(data, 'many.ndjson');
  // Longer than what sockets and pipes take.
  const text = 'x'.repeat(20_000);
  await writeFile(file, lines(1, MANY).replaceAll('{"name":', `{"text":"${text}","name":`));
  await run('import', file, '--database', 'db', '--dimensions', '4', ...server);

  // Nobody reads the pipe, so the export is in the middle when it is stopped.
  const piped = new Command(['export', '--database', 'db', ...server]);
  piped.child.stdout.pause();
  const stopped = new Command(['export', '--database', 'db', '--vectors', '--output', target, ...server]);
  stopped.child.stderr.once('data', () => undefined);
  while (!(await readdir(data)).some((name) => name.endsWith('.tmp')) && stopped.child.exitCode === null) {
    await stat(data);
  }
  stopped.child.kill('SIGINT');
  expect(await stopped.ended()).toBe(130);
  expect(stopped.stderr).toContain('is as it was');
  expect(await readFile(target, 'utf8')).toBe('as it was\n');
  expect((await readdir(data)).filter((name) => name.endsWith('.tmp'))).toEqual([]);

  // A server that goes away leaves no half file either.
  await writeFile(target, 'as it was\n');
  const cut = new Command(['export', '--database', 'db', '--vectors', '--output', target, ...server]);
  command.child.kill('SIGKILL');
  if ((await cut.ended()) !== 0) expect(await readFile(target, 'utf8')).toBe('as it was\n');
  piped.child.stdout.resume();
  await piped.ended();
  await run('export', '--database', 'db', '--output', target, '--data', data);
  expect((await readFile(target, 'utf8')).split('\n')).toHaveLength(MANY + 1);
});

test('what cannot be exported is refused with what to do', { timeout: TIMEOUT }, async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const file = join(directory, 'in.ndjson');
  await writeFile(
    file,
    '{"id":1,"data":{"id":"of the data","mixed":1},"vector":[1]}\n{"id":2,"data":{" spaced ":"x","mixed":"y"},"vector":[1]}\n',
  );
  await run('import', file, '--database', 'db', '--dimensions', '1', ...data);
  for (const [args, text] of [
    [['--output', join(directory, 'out')], '--format'],
    [['--output', join(directory, 'out.parquet.gz')], 'leave .gz out'],
    [['--output', directory, '--format', 'csv'], 'is a directory'],
    [['--output', join(directory, 'none', 'out.csv')], 'there is no'],
    [['--output', join(directory, 'out.csv'), '--vectors'], 'CSV has no vectors'],
    [['--output', join(directory, 'out.csv')], 'begins or ends with a space'],
    [['--database', 'none'], 'there is no database'],
  ] as const) {
    const { code, stderr } = await cosift('export', '--database', 'db', ...args, ...data);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(text);
  }
  const parquet = await run(
    'export',
    '--database',
    'db',
    '--output',
    join(directory, 'out.parquet'),
    ...data,
  );
  expect(parquet.stderr).toContain('import the file with --id-column uuid');
  expect(parquet.stderr).toContain('column "mixed" has values of the types number and text');
  const where = ['--where', 'mixed = 1', '--format', 'csv'];
  const csv = await run('export', '--database', 'db', ...where, ...data);
  expect(parsed(csv.stdout)).toEqual([
    ['uuid', 'id', 'mixed'],
    [expect.any(String), 'of the data', '1'],
  ]);
  expect((await readdir(directory)).sort()).toEqual(['data', 'in.ndjson', 'out.parquet']);
});
