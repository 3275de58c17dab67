import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'cosift';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { openInput } from '../../src/readers/open-input.js';
import { openSource } from '../../src/readers/source.js';
import { inFull } from '../helpers/full.js';
import { openFile, recordsOf } from '../helpers/imported-files.js';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

// Each test starts several processes.
type Row = { id: number; key?: string | undefined; data: Record<string, unknown> };

async function setUp(name: string, content: string | Uint8Array) {
  const directory = await temporaryDirectory();
  const file = join(directory, name);
  await writeFile(file, content);
  const data = join(directory, 'data');
  // Nothing is embedded: these tests are about values and identities.
  const library = await open(data);
  await library.createDatabase('d', { embed: { columns: ['none'] } });
  await library.close();
  const load = (...args: string[]) => cosift('import', file, '--database', 'd', '--data', data, ...args);
  const records = async (): Promise<Row[]> => {
    const library = await open(data);
    try {
      const database = library.database('d');
      const rows: Row[] = [];
      for await (const { id, key, data } of database.queryAll()) rows.push({ id, key, data });
      return rows.sort((a, b) => a.id - b.id);
    } finally {
      await library.close();
    }
  };
  return { file, data, load, records };
}

test('CSV: a value is stored as it is written', async () => {
  const { load, records } = await setUp(
    'a.csv',
    'id,price,account,zip,rank,open,note\n' +
      '1,1.10,12345678901234567890,01234,7,true,\n' +
      '2,2,1,90210,-2.5,false,x\n',
  );
  const stored = await load();
  expect(stored.stderr).toBe('');
  expect(stored.code).toBe(0);
  expect(stored.stdout).toContain('text: price, account, zip, note; number: rank; boolean: open (--types');
  expect((await records()).map(({ data }) => data)).toEqual([
    { price: '1.10', account: '12345678901234567890', zip: '01234', rank: 7, open: true, note: null },
    { price: '2', account: '1', zip: '90210', rank: -2.5, open: false, note: 'x' },
  ]);
});

test('CSV: a declared type is used, and a value that it cannot hold is reported', async () => {
  const { load, records } = await setUp('a.csv', 'id,price,rank\n1,1.10,7\n2,12345678901234567890,8\n');
  const stored = await load('--types', 'price=number,rank=text');
  expect(stored.stderr).toMatch(/^line 3: column "price": "12345678901234567890" cannot be stored .*\n$/);
  expect(stored.code).toBe(1);
  expect(await records()).toEqual([{ id: 1, data: { price: 1.1, rank: '7' } }]);
  expect((await load('--types', 'prise=number')).stderr).toContain('did you mean "price"?');
  expect((await load('--types', 'price=numbr')).stderr).toContain('did you mean "number"?');
});

test.each(['a.csv', 'a.ndjson'])(
  'a row without an id is neither overwritten nor overwrites: %s',
  async (name) => {
    // More than a batch of the import takes.
    const ROWS = inFull(3_000, 600);
    const all = (ROWS + 1).toLocaleString('en-US');
    const rows = Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, name: `row ${at + 1}` }));
    const content =
      name === 'a.csv'
        ? `id,name\n,lost?\n${rows.map(({ id, name }) => `${id},${name}\n`).join('')}`
        : `{"data":{"name":"lost?"}}\n${rows.map(({ id, name }) => `{"id":${id},"data":{"name":"${name}"}}\n`).join('')}`;
    const { load, records } = await setUp(name, content);
    const stored = await load();
    expect(stored).toMatchObject({ code: 0, stderr: '' });
    expect(stored.stdout).toContain(`: ${all} created, 0 changed, 0 unchanged, 0 bad lines\n`);
    const found = await records();
    expect(found).toHaveLength(ROWS + 1);
    expect(found[0]).toEqual({ id: 1, data: { name: 'row 1' } });
    expect(found.at(-1)).toEqual({ id: ROWS + 1, data: { name: 'lost?' } });
    expect((await load()).stdout).toContain(`: 0 created, 0 changed, ${all} unchanged, 0 bad lines\n`);
  },
);

test.each([
  ['a.csv', 'name,n\na,1\nb,2\na,1\nb,\na,1\n'],
  ['a.ndjson', ['a', 'b', 'a', 'c', 'a'].map((name) => `{"data":{"name":"${name}"}}\n`).join('')],
])('the same file without ids again changes nothing, equal rows included: %s', async (name, content) => {
  const { load, records } = await setUp(name, content);
  expect((await load()).stdout).toMatch(/: 5 created, 0 changed, 0 unchanged, 0 bad lines\n/);
  expect((await load()).stdout).toMatch(/: 0 created, 0 changed, 5 unchanged, 0 bad lines\n/);
  expect(await records()).toHaveLength(5);
});

test.each([
  ['a.csv', 'id,name\n1,a\n2,b\n1,c\n', []],
  [
    'a.csv',
    'uuid,name\n0190a0b2-7c1e-7f2a-8a4e-0c8d4b1f2a3c,a\n,b\n0190A0B2-7c1e-7f2a-8a4e-0c8d4b1f2a3c,c\n',
    [],
  ],
  ['a.csv', 'sku,name\nA-1,a\nA-2,b\nA-1,c\n', ['--id-column', 'sku']],
  ['a.csv', 'nr,name\n1,a\n2,b\n1,c\n', ['--id-column', 'nr']],
  [
    'a.ndjson',
    '\n{"id":1,"data":{"name":"a"}}\n{"id":2,"data":{"name":"b"}}\n{"id":1,"data":{"name":"c"}}\n',
    [],
  ],
  [
    'a.ndjson',
    '\n{"data":{"sku":1,"name":"a"}}\n{"data":{"sku":2,"name":"b"}}\n{"data":{"sku":"1","name":"c"}}\n',
    ['--id-column', 'sku'],
  ],
])('an identity that comes twice is reported with both lines: %s %s', async (name, content, options) => {
  const { load, records } = await setUp(name, content);
  for (const created of [2, 0]) {
    const stored = await load(...options);
    expect(stored.stderr).toMatch(
      /^line 4: line 2 has the (id|uuid|key) .* too; only that line is stored\n$/,
    );
    expect(stored.stdout).toContain(`: ${created} created, 0 changed, ${2 - created} unchanged, 1 bad line`);
    expect(stored.code).toBe(1);
  }
  expect((await records()).map(({ data }) => data.name)).toEqual(['a', 'b']);
});

test('a key keeps its record when the row changes, and stays a column', async () => {
  const { file, load, records } = await setUp('a.csv', 'id,name\nA-1,a\nA-2,b\n');
  const stored = await load();
  expect(stored.stdout).toContain(': 2 created, 0 changed');
  expect(stored.stdout).toContain('identity: the column "id" (keys)');
  await writeFile(file, 'name,id\nc,A-2\n');
  expect((await load()).stdout).toContain(': 0 created, 1 changed');
  expect((await records()).map(({ key, data }) => [key, data])).toEqual([
    ['A-1', { id: 'A-1', name: 'a' }],
    ['A-2', { name: 'c', id: 'A-2' }],
  ]);
});

test('a record that was stored under the UUID of its key gets the key', async () => {
  const uuid = '84cf6967-cf82-5d44-9311-4351ee47fbdb';
  const { file, load, records } = await setUp('a.json', `[{"uuid":"${uuid}","data":{"n":1}}]`);
  expect((await load()).stdout).toContain(': 1 created');
  await writeFile(file, '{"key":"A-1","data":{"n":1}}\n{"key":"A-2","data":{}}\n{"key":"A-2","data":{}}\n');
  const again = await load();
  expect(again.stdout).toContain(': 1 created, 1 changed, 0 unchanged, 1 bad line');
  expect(again.stderr).toBe('line 3: line 2 has the key "A-2" too; only that line is stored\n');
  expect((await load()).stdout).toContain(': 0 created, 0 changed, 2 unchanged, 1 bad line');
  expect((await records()).map(({ key, data }) => [key, data])).toEqual([
    ['A-1', { n: 1 }],
    ['A-2', {}],
  ]);
});

test('a column key in front of the UUIDs that are made from it is no column of the data', async () => {
  const uuid = '84cf6967-cf82-5d44-9311-4351ee47fbdb';
  const other = '0190a0b2-7c3d-7abc-8def-0123456789ab';
  const rows = [`1,A-1,${uuid},a`, `2,,${other},b`];
  const exported = await setUp('a.csv', `id,key,uuid,name\n${rows.join('\n')}\n`);
  expect((await exported.load()).stdout).toContain(': 2 created');
  expect(await exported.records()).toEqual([
    { id: 1, key: 'A-1', data: { name: 'a' } },
    { id: 2, data: { name: 'b' } },
  ]);

  rows.push(`3,lock,${other.replace('a', 'b')},c`);
  const data = await setUp('b.csv', `id,key,uuid,name\n${rows.join('\n')}\n`);
  expect((await data.load()).stdout).toContain(': 3 created');
  expect(await data.records()).toEqual([
    { id: 1, data: { key: 'A-1', name: 'a' } },
    { id: 2, data: { key: null, name: 'b' } },
    { id: 3, data: { key: 'lock', name: 'c' } },
  ]);
});

test('a number of JSON that is an integer id is one however it is written', async () => {
  const { file, load, records } = await setUp('a.ndjson', '{"id":1.0,"a":"x"}\n{"id":2e0,"a":"y"}\n');
  expect(await load()).toMatchObject({ code: 0, stderr: '' });
  expect(await records()).toEqual([
    { id: 1, data: { a: 'x' } },
    { id: 2, data: { a: 'y' } },
  ]);

  await writeFile(file, '{"id":2,"a":"z"}\n{"id":2.0,"a":"again"}\n');
  const twice = await load();
  expect(twice.stdout).toContain('0 created, 1 changed');
  expect(twice.stderr).toContain('line 1 has the id 2 too');

  await writeFile(file, '{"id":30e-1,"data":{"a":"z"}}\n{"id":3,"data":{"a":"again"}}\n');
  expect((await load()).stderr).toContain('line 1 has the id 3 too');
  expect(await records()).toEqual([
    { id: 1, data: { a: 'x' } },
    { id: 2, data: { a: 'z' } },
    { id: 3, data: { a: 'z' } },
  ]);

  await writeFile(file, '{"id":4.0,"a":"x"}\n');
  expect((await load('--types', 'id=text')).code).toBe(0);
  expect((await records())[3]).toMatchObject({ key: '4', data: { id: '4.0', a: 'x' } });

  await writeFile(file, '{"id":7.0,"a":"x"}\n{"id":7,"a":"x"}\n{"id":"k","a":"x"}\n');
  const mixed = await load('--dry-run');
  expect(mixed.stderr).toContain('line 1 has the key "7" too');
});

test('a pipe refuses records that could overwrite each other', async () => {
  const { data, records } = await setUp('unused', '');
  const command = new Command(['import', '-', '--database', 'd', '--data', data]);
  command.child.stdin.end('{"data":{"name":"a"}}\n{"id":1,"data":{"name":"b"}}\n{"data":{"name":"c"}}\n');
  expect(await command.ended()).toBe(1);
  expect(command.stderr).toMatch(/^line 2: the first record has no id and this one has one: /);
  expect((await records()).map(({ data }) => data.name)).toEqual(['a', 'c']);
});

test('the encoding is recognised or named; nothing is replaced', async () => {
  const latin1 = Buffer.from('id,name\n1,plain\n2,Zo\u00eb and caf\u00e9\n', 'latin1');
  const { file, load, records } = await setUp('a.csv', latin1);
  const stored = await load();
  expect(stored).toMatchObject({ code: 0, stderr: '' });
  expect(stored.stdout).toContain('read as CSV, windows-1252\n');
  expect((await records())[1]).toEqual({ id: 2, data: { name: 'Zo\u00eb and caf\u00e9' } });

  await writeFile(file, Buffer.from('\ufeffid,name\n3,\ud83d\ude00 \u20ac\n', 'utf16le'));
  expect((await load()).stdout).toContain('read as CSV, utf-16le\n');
  await writeFile(file, Buffer.concat([Buffer.from('id,name\n4,'), Uint8Array.of(0x80, 0x0a)]));
  expect((await load()).code).toBe(0);
  expect((await records()).slice(2)).toEqual([
    { id: 3, data: { name: '\ud83d\ude00 \u20ac' } },
    { id: 4, data: { name: '\u20ac' } },
  ]);
  await writeFile(file, Buffer.concat([Buffer.from('id,name\n5,'), Uint8Array.of(0x81, 0x0a)]));
  expect((await load()).stderr).toContain('line 2, byte 3: 0x81 is not UTF-8');
  expect((await load('--encoding', 'windows-1252')).stderr).toContain('line 2: is not windows-1252');
  for (const encoding of ['utf-16le', 'utf-16be']) {
    await writeFile(file, iconv.encode('id,name\n6,cut', encoding).subarray(0, -1));
    expect((await load('--encoding', encoding)).stderr).toContain(
      `line 2: the file ends within a character of ${encoding}`,
    );
  }
  expect(await records()).toHaveLength(4);
  expect((await load('--encoding', 'latin-l')).stderr).toContain('no such encoding is known');
});

test('an encoding is not guessed for text of another alphabet, or for damaged UTF-8', async () => {
  const cyrillic = Uint8Array.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0xec, 0xe8, 0xf0]);
  const { file, load } = await setUp('a.csv', Buffer.concat([Buffer.from('id,name\n1,'), cyrillic]));
  expect((await load()).stderr).toContain('line 2, byte 3: 0xCF is not UTF-8');
  await writeFile(file, Buffer.concat([Buffer.from('id,name\n1,\u00eb\n2,'), Uint8Array.of(0xe9, 0x0a)]));
  expect((await load()).stderr).toContain('line 3, byte 3: 0xE9 is not UTF-8');
});

test('an encoding that shows only far into the file is recognised', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => `${at + 1},${'plain '.repeat(100)}\n`).join('');
  const latin1 = Buffer.from(`id,name\n${rows}601,caf\u00e9\n`, 'latin1');
  const { load } = await setUp('a.csv', latin1);
  const checked = await load('--dry-run', '--types', 'id=text');
  expect(checked.stdout).toContain('read as CSV, windows-1252\n');
});

test('a header that cannot be used is refused with its line, and nothing is stored', async () => {
  const { file, load, records } = await setUp('a.csv', '\nid,"a\n1,2\n');
  const quoted = () => load('--format', 'csv', '--quote', '"');
  expect((await quoted()).stderr).toMatch(/^cosift: line 2: the CSV header cannot be read: /);
  await writeFile(file, 'id,x"y,a\n1,2,3\n');
  expect((await quoted()).stderr).toMatch(/^cosift: line 1: the CSV header cannot be read: /);
  await writeFile(file, '');
  expect((await load()).stderr).toBe('cosift: the file is empty\n');
  await writeFile(file, 'id,a\n1,2\n');
  expect((await load('--id-column', 'b')).stderr).toContain('--id-column: there is no column "b"');
  expect((await load('--embed', 'aa')).stderr).toContain(
    '--embed: there is no column "aa"; did you mean "a"?',
  );
  expect((await load('--dimensions', '4')).stderr).toContain('CSV has no vectors');
  expect(await records()).toEqual([]);
});

test('a row with too few or too many fields, or a quote that is not closed, is reported', async () => {
  const { load, records } = await setUp('a.csv', 'id,a\n1,x\n2\n3,x,y\n4,"x\ny"\n5,z\n6,"open\n');
  const stored = await load();
  expect(stored.code).toBe(1);
  const lines = stored.stderr.split('\n').map((line) => /^line \d+/.exec(line)?.[0]);
  expect(lines.slice(0, 2)).toEqual(['line 3', 'line 4']);
  expect(stored.stderr).toMatch(/line 8: the quote of field 2 is not closed; .*--quote none\n/);
  expect((await records()).map(({ id }) => id)).toEqual([1, 4, 5]);
});

test('a quote that is not closed is reported where its row begins, with what it takes along', async () => {
  const rows = Array.from({ length: 300 }, (_, at) => `${at + 1},x\n`);
  rows[99] = '\n100,"x\n';
  const { file, load, records } = await setUp('a.csv', `id,a\n${rows.join('')}`);
  const quotes = ['--format', 'csv', '--quote', '"'];
  const open = await load(...quotes);
  expect(open.stderr).toMatch(
    /^line 102: the quote of field 2 is not closed; with it, the row reaches to line 302\n$/,
  );
  expect(await records()).toHaveLength(99);
  rows[199] = '200,"x"\n';
  await writeFile(file, `id,a\n${rows.join('')}`);
  const closed = await load(...quotes);
  expect(closed.stderr).toMatch(
    /^line 102: the closing quote of field 2 is followed by "x": a quote within quotes is written twice; .* reaches to line 202\n$/,
  );
  expect(await records()).toHaveLength(199);
});

test('separator and quotes are recognised or named', async () => {
  const { file, load, records } = await setUp('a.csv', 'id;name;price\n1;Apfel;1,20\n2;"Birne;";2\n');
  expect((await load()).stdout).toContain('read as CSV, separated by ";"\n');
  await writeFile(file, 'id\tname\n3\tit, is\n');
  expect((await load()).stdout).toContain('read as TSV\n');
  await writeFile(file, "id,name\r4,'it''s, so'\r5,'b'");
  expect((await load()).stdout).toContain("read as CSV, quoted by ' (--quote changes it)\n");
  await writeFile(file, "id,name\n6,it's\n");
  expect((await load()).stdout).toContain('read as CSV\n');
  await writeFile(file, 'id,name\n7,say "x"\n');
  const quoted = await load('--quote', '"');
  expect(quoted.stderr).toContain('line 2: field 2 has a quote inside, but does not begin with one');
  expect(await load()).toMatchObject({ code: 0, stderr: '' });
  await writeFile(file, 'id,name;x\n8,"a;b"\n');
  expect(await load('--separator', ',')).toMatchObject({ code: 0, stderr: '' });
  expect((await load('--separator', ';;')).stderr).toContain('not one character, nor "tab"');
  expect((await records()).map(({ id, data }) => [id, ...Object.values(data)])).toEqual([
    [1, 'Apfel', '1,20'],
    [2, 'Birne;', '2'],
    [3, 'it, is'],
    [4, "it's, so"],
    [5, 'b'],
    [6, "it's"],
    [7, 'say "x"'],
    [8, 'a;b'],
  ]);
});

test('separators after the last column are no column, unless a value stands there', async () => {
  const { file, load, records } = await setUp('a.csv', 'id,a,,\n1,x,,\n2,y\n4,u,\n');
  expect(await load()).toMatchObject({ code: 0, stderr: '' });
  expect(await records()).toEqual([
    expect.objectContaining({ id: 1, data: { a: 'x' } }),
    expect.objectContaining({ id: 2, data: { a: 'y' } }),
    expect.objectContaining({ id: 4, data: { a: 'u' } }),
  ]);
  await writeFile(file, 'id,a,,\n3,z,,kept\n4,u,\n5\n');
  const named = await load();
  expect(named.stdout).toContain('column 4 is called "column4", because it has no name');
  expect(named.stderr).toBe('line 4: the row has 1 field, the header 4 columns\n');
  expect((await records()).map(({ id, data }) => [id, data.a, data.column4])).toEqual([
    [1, 'x', undefined],
    [2, 'y', undefined],
    [3, 'z', 'kept'],
    [4, 'u', undefined],
  ]);
});

test('any name is an ordinary column', async () => {
  const { load, records } = await setUp('a.csv', 'id,__proto__,constructor\n1,2,x\n');
  expect(await load('--types', '__proto__=text')).toMatchObject({ code: 0, stderr: '' });
  const [row] = await records();
  expect(JSON.stringify(row?.data)).toBe('{"__proto__":"2","constructor":"x"}');
});

test('what cannot be read twice is refused by name', async () => {
  const { data } = await setUp('unused', '');
  const nameless = await cosift('search', 'x', '--database', 'd', '--data', '');
  expect(nameless).toMatchObject({ code: 1, stderr: expect.stringContaining('must not be empty') });
  const device = await cosift('import', '/dev/null', '--database', 'd', '--data', data);
  expect(device).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a regular file') });
});

test('a file that grows while it is read is reported as changed', async () => {
  const { file } = await setUp('a.ndjson', '{"id":1,"data":{}}\n');
  const stop = new AbortController();
  const source = await openSource(file, stop.signal);
  const input = await openInput(source, {}, () => undefined);
  const records = input.records(() => undefined);
  await records.next();
  await appendFile(file, '{"id":2,"data":{}}\n');
  const rest = (async () => {
    for (let next = await records.next(); !next.done; next = await records.next());
  })();
  await expect(rest).rejects.toThrow(/changed while it was read/);
});

test.each(['a.csv', 'a.ndjson'])(
  'a row whose id was given to a row without one before is reported, and the other keeps it: %s',
  async (name) => {
    const content = (rows: [number | undefined, string][]) =>
      name === 'a.csv'
        ? `id,name\n${rows.map(([id, name]) => `${id ?? ''},${name}\n`).join('')}`
        : `\n${rows.map(([id, name]) => `${JSON.stringify({ id, data: { name } })}\n`).join('')}`;
    const rows: [number | undefined, string][] = [
      [undefined, 'a'],
      [1, 'b'],
      [2, 'c'],
      [undefined, 'd'],
    ];
    const { file, load, records } = await setUp(name, content(rows));
    expect(await load()).toMatchObject({ code: 0, stderr: '' });
    // Row 2 got the id 3, row 5 the id 4.
    await writeFile(file, content([...rows, [3, 'e'], [9, 'f']]));
    for (const counts of ['1 created, 2 changed, 3 unchanged', '0 created, 2 changed, 4 unchanged']) {
      const stored = await load();
      expect(stored.stderr).toMatch(
        /^line 6: the record of line 2, which has no id, got the id 3 when it was imported before; .*\n$/,
      );
      expect(stored.stdout).toContain(`: ${counts}, 1 bad line`);
      expect(stored.code).toBe(1);
    }
    expect((await records()).map(({ id, data }) => [id, data.name])).toEqual([
      [1, 'b'],
      [2, 'c'],
      [3, 'a'],
      [4, 'd'],
      [9, 'f'],
    ]);
    // The report says how to continue.
    await writeFile(file, content([[3, 'a'], ...rows.slice(1), [5, 'e'], [9, 'f']]));
    expect(await load()).toMatchObject({ code: 0, stderr: '' });
    expect(await records()).toHaveLength(6);
  },
);

test('a column whose values are keys now does not store the records with integer ids twice', async () => {
  const { file, load, records } = await setUp('a.csv', 'id,name,zip\n1,Ada,007\n2,Bob,11\n');
  expect((await load()).code).toBe(0);
  const before = await records();
  await appendFile(file, 'x3,Cy,12\n');
  const refused = await load();
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /^cosift: the column "id" has keys, .* by integer ids, such as "1", .* --types id=text /,
  );
  expect(await records()).toEqual(before);
  // Declared keys are what the user wants.
  expect((await load('--types', 'id=text')).stdout).toContain(': 3 created, 0 changed, 0 unchanged');
  // The keys stay keys when no other value shows that they are.
  await writeFile(file, 'id,name,zip\n1,Ada,007\n2,Bob,11\n');
  const other = await load();
  expect(other.stderr).toMatch(
    /has integer ids, .* by keys, such as "1", .* --types id=text to keep the keys/,
  );
});

test('a column uuid without UUIDs is data, and one value that is none is reported', async () => {
  const data = await openFile('id,uuid,name\n1,abc,Ada\n2,def,Bob\n');
  expect(await recordsOf(data.input)).toEqual({
    records: [
      { id: 1, data: { uuid: 'abc', name: 'Ada' } },
      { id: 2, data: { uuid: 'def', name: 'Bob' } },
    ],
    bad: [],
  });
  const uuid = 'c2a9a1f4-0d53-4c55-8f0b-7be0a4f9d3e6';
  const mixed = await openFile(`{"id":1,"uuid":"${uuid}","a":1}\n{"id":2,"uuid":"abc","a":2}\n`);
  expect(await recordsOf(mixed.input)).toEqual({
    records: [{ id: 1, uuid, data: { a: 1 } }],
    bad: [
      expect.stringMatching(
        /^2: column "uuid": "abc" is not a UUID like other values of the column; --id-column uuid --types uuid=text makes/,
      ),
    ],
  });
});
