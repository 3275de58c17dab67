import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeInput } from '../../src/cli/import/report.js';
import { parseColumns } from '../../src/cli/option-values.js';
import type { InputOptions } from '../../src/readers/input.js';
import { columnNames } from '../../src/readers/option-text.js';
import { openFile, recordsOf } from '../helpers/imported-files.js';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

/** The data of the records, the reports on bad lines, and how the file is read. */
async function read(content: string, options: InputOptions = {}) {
  const { input } = await openFile(content, options);
  const { records, bad } = await recordsOf(input);
  return { data: records.map(({ data }) => data), bad, report: describeInput(input) };
}

const UNQUOTED = 'read as TSV, without quotes (--quote changes it)';

test('a quote in a file that never quotes takes in no rows', async () => {
  const text =
    'code\ttitle\tyear\nt1\tRain jacket\t1999\nt2\t"Heroes\t2001\nt3\tSun hat\t2002\nt4\tUmbrella"\t2003\n';
  const { data, bad, report } = await read(text);
  expect(data.map(({ title }) => title)).toEqual(['Rain jacket', '"Heroes', 'Sun hat', 'Umbrella"']);
  expect([bad, report[0]]).toEqual([[], UNQUOTED]);
  const quoted = await read(text, { quote: '"' });
  expect(quoted.data.map(({ title }) => title)).toEqual([
    'Rain jacket',
    'Heroes\t2001\nt3\tSun hat\t2002\nt4\tUmbrella',
  ]);
});

test.each([
  ['a name with a nickname', 't1\t"Weird Al" Yankovic\t1999\nt2\tBoots\t2000\n'],
  ['inches', 't1\t12" vinyl\t1999\nt2\t7" vinyl\t2000\n'],
  ['a quote that nothing closes', `t1\t"Heroes\t1999\n${'t2\tBoots\t2000\n'.repeat(300)}`],
])('quotes are characters of the text: %s', async (_, rows) => {
  const { data, bad, report } = await read(`code\ttitle\tyear\n${rows}`);
  expect(data).toHaveLength(rows.split('\n').length - 1);
  expect([bad, report[0]]).toEqual([[], UNQUOTED]);
});

test.each([
  ['separators', 'id,a\n1,"x, y"\n2,"z"\n3,5" nail\n', 1],
  ['a column throughout', 'id,a\n1,"x"\n2,"y"\n3,"z"w\n', 1],
  ['doubled quotes', 'id,a\n1,"x ""y"" z"\n2,b\n3,5" nail\n', 1],
  ['lines', 'id,a\n1,"Dear Bob,\n\nbest, Ann"\n2,y\n', 0],
])('quotes that quote something are quotes: %s', async (_, text, badLines) => {
  const { data, bad, report } = await read(text);
  expect(report[0]).toBe('read as CSV');
  expect(JSON.stringify(data[0])).not.toMatch(/^\{"a":"\\"/);
  expect(bad).toHaveLength(badLines);
});

test.each([
  ['a doubled quote', 'name,note\nAda,"He said ""hi"":\neggs, 2\nmilk, 1"\nBob,"x, y"\nEve,ok\n', 3],
  ['a separator elsewhere', 'id,t\n1,"street 0, x"\n2,"a\nb,2\nc,3"\n3,ok\n', 3],
])('a text whose lines look like rows is one text: %s', async (_, text, records) => {
  const { data, bad, report } = await read(text);
  expect([data.length, bad, report[0]]).toEqual([records, [], 'read as CSV']);
});

test.each([
  'name,note\r\nAda,"shopping:\r\neggs, 2\r\nmilk, 1"\r\nBob,ok\r\n',
  'id;t\n1;"a"\n2;"b\n3;c\n4;d"\n5;e\n',
])('a text whose lines look like rows is reported where nothing tells what it is: %j', async (text) => {
  const { data, bad } = await read(text);
  const last = text.includes('Bob') ? ['Bob'] : ['a', 'e'];
  expect(data.map(({ name, t }) => name ?? t)).toEqual(last);
  expect(bad).toHaveLength(1);
  expect(bad[0]).toContain(`--quote '"' as one`);
  const { data: all } = await read(text, { quote: '"' });
  expect(all).toHaveLength(last.length + 1);
});

test('single quotes in few fields are characters of the text', async () => {
  const { data, bad } = await read(`id\tname\n1\tBolt 5"\n2\t"Foo" Bar\n3\t'Amran'\n4\tPlain\n5\t'x\ty'\n`);
  expect(data.map(({ name }) => name)).toEqual(['Bolt 5"', '"Foo" Bar', "'Amran'", 'Plain']);
  expect(bad).toHaveLength(1);
});

test('a quote after the beginning of a file that shows no quotes is reported with the option that decides', async () => {
  const plain = Array.from({ length: 1_000 }, (_, at) => `t${at}\t${'Rain jacket '.repeat(30)}\t1999\n`).join(
    '',
  );
  const text = `code\ttitle\tyear\n${plain}a\t"Heroes\t1\nb\tSun hat\t2\nc\tUmbrella"\t3\nd\t"Weird Al" Yankovic\t4\ne\tx\t5\n`;
  const { data, bad, report } = await read(text);
  expect([data.length, report[0]]).toEqual([1_001, 'read as TSV']);
  expect(bad).toEqual([
    `1002: a quote takes in the lines to 1004, which look like rows: --quote none reads them as rows, --quote '"' as one`,
    expect.stringMatching(
      /^1005: the closing quote .*; if quotes are characters of the texts, give --quote none$/,
    ),
  ]);
  const counts = async (quote: string) => {
    const decided = await read(text, { quote });
    return [decided.data.length, decided.bad.length];
  };
  expect(await counts('')).toEqual([1_005, 0]);
  expect(await counts('"')).toEqual([1_002, 1]);
});

test('fields may have single quotes throughout, and apostrophes are none', async () => {
  const quoted = await read("'id','name'\n'1','Ada'\n'2','O''Brien, Bob'\n");
  expect(quoted.data).toEqual([{ name: 'Ada' }, { name: "O'Brien, Bob" }]);
  expect(quoted.report[0]).toBe("read as CSV, quoted by ' (--quote changes it)");
  expect((await read("id,name\n1,'Ada'\n2,'Bob'\n")).data).toEqual([{ name: 'Ada' }, { name: 'Bob' }]);
  const apostrophes = await read("id,name\n1,'tis\n2,rock 'n' roll\n3,Ada\n4,Bob'\n");
  expect(apostrophes.data.map(({ name }) => name)).toEqual(["'tis", "rock 'n' roll", 'Ada', "Bob'"]);
});

test('lines may end in CR CR LF, and spaces may stand around quotes', async () => {
  expect((await read('id,name,qty\r\r\n1,Rain jacket,2\r\r\n2,"Sun, hat",3\r\r\n')).data).toEqual([
    { name: 'Rain jacket', qty: 2 },
    { name: 'Sun, hat', qty: 3 },
  ]);
  expect((await read('"id", "title"\n1, "Hi, Mom!" \n2 ,"x"\n')).data.map(({ title }) => title)).toEqual([
    'Hi, Mom!',
    'x',
  ]);
  // Rows of an old spreadsheet with a line end in a field.
  expect((await read('id,a\r1,"x\ny"\r2,z\r')).data).toEqual([{ a: 'x\ny' }, { a: 'z' }]);
  expect((await read('id,a\n1,"x\ry\rz\r\r"\n2,z\n')).data).toEqual([{ a: 'x\ry\rz\r\r' }, { a: 'z' }]);
});

test('columns without a name, or with the name of another, get a name that is told', async () => {
  const pandas = await read(',name,qty\n0,Rain jacket,2\n1,Sun hat,3\n');
  expect(pandas.data[0]).toEqual({ column1: 0, name: 'Rain jacket', qty: 2 });
  expect(pandas.report).toContain('column 1 is called "column1", because it has no name');
  const twice = await read('a,b,a,a_2,column6,,,\n1,2,3,4,5,6,,\n');
  expect(twice.data).toEqual([{ a: 1, b: 2, a_2_2: 3, a_2: 4, column6: 5, column6_2: 6 }]);
  expect(twice.report).toContain('column 3 is called "a_2_2", because it has the name "a" again');
  expect((await read('id,"Name\r\n(full)"\n1,Ada\n')).data).toEqual([{ 'Name (full)': 'Ada' }]);
});

test('a header that looks like a row is told', async () => {
  const warning = expect.stringMatching(/^the first line is read as the header, but looks like a row/);
  expect((await read('1,Rain jacket,2.5\n2,Sun hat,3\n')).report).toContainEqual(warning);
  expect((await read('1,1\n2,3\n')).report).toContainEqual(warning);
  expect((await read('id,2020\n1,3\n')).report).not.toContainEqual(warning);
  expect((await read('name,zip\nx,01234\n')).report).not.toContainEqual(warning);
});

test('a column that is text only for the form of its values is named with the option', async () => {
  const prices = await read('name,price,open,zip\nA,2,True,01234\nB,1.10,false,08001\n');
  expect(prices.report.slice(-3)).toEqual([
    'price looks like numbers, but is text because of 1.10 in line 3 beside 2 in line 2: --types price=number',
    'open looks like booleans, but is text because of false in line 3 beside True in line 2: --types open=boolean',
    'zip looks like numbers, but is text because of 01234 in line 2: --types zip=number',
  ]);
  const nulls = await read('name,qty,"a b",note\nA,NA,\\N,NA\nB,2,.097,x\n');
  expect(nulls.report.slice(-2)).toEqual([
    'qty looks like numbers, but is text because of "NA" in line 2: --null NA',
    `a b looks like numbers, but is text because of "\\N" in line 2: --null '\\N'`,
  ]);
  const several = await read('a,b,c\n01,01,x\n');
  expect(several.report.at(-1)).toBe(
    'a, b look like numbers, but are text because of 01 in line 2 of a: --types a=number,b=number',
  );
  const names = Array.from({ length: 11 }, (_, at) => `n${at}`);
  const many = await read(`${names.join()}\n${names.map((_, at) => `0${at}`).join()}\n`);
  expect(many.report.at(-1)).toContain(
    'n9 and 1 more look like numbers, but are text because of 00 in line 2 of n0:',
  );
  const declared = await read('price\n007\n', { types: { price: 'text' } });
  expect(declared.report.join()).not.toContain('looks like');
});

test('a row with a text of two lines and a field too many keeps the quotes of a small file', async () => {
  const { input } = await openFile('id,name,note\n1,a,x\n2,"two\nlines",y,z\n3,c,w\n');
  const bad: [string | Uint8Array, string][] = [];
  for await (const _ of input.records(({ raw }, reason) => bad.push([raw(), reason])));
  expect(bad).toEqual([
    [
      '2,"two\nlines",y,z',
      'the row has 4 fields, the header 3 columns; with it, the row reaches to line 4; ' +
        'if quotes are characters of the texts, give --quote none',
    ],
  ]);
  expect(describeInput(input)[0]).toBe('read as CSV');
});

test('the report says of what the number of rows depends: a header of texts, and empty lines of one column', async () => {
  const texts = await read('name,note\na,x\nb,y\n');
  expect(texts.report[1]).toBe(
    'the first line is read as the header: if it is a row, put a line with the names of the columns above it',
  );
  for (const text of ['name,qty\na,1\n', ',price\na,1.0\n', 'id,name\nx,a\n']) {
    expect((await read(text)).report.join()).not.toContain('header');
  }
  const column = await read('word\na\n\nb\n\n');
  expect(column.report[2]).toBe('2 empty lines left out: a row without a value has quotes ("")');
  expect((await read('word\na\n""\n')).data).toEqual([{ word: 'a' }, { word: '' }]);
});

test('a record whose id is a text is refused with the options that make it a key', async () => {
  const text = '{"id":"abc","data":{"x":1}}\n{"id":"abd","data":{"x":2}}\n';
  const { bad } = await read(text);
  expect(bad[0]).toBe(
    '1: the member "id" is "abc", and the id of a record is an integer: --flatten --id-column id makes the values keys, ' +
      'and so does the name "key" in place of "id"',
  );
  const { data } = await read(text, { flatten: true, idColumn: 'id' });
  expect(data).toEqual([
    { id: 'abc', 'data.x': 1 },
    { id: 'abd', 'data.x': 2 },
  ]);
});

test('--null names texts that stand for no value', async () => {
  const text = 'code,name,qty\nNA,"NA",NA\nx,-,"NA"\ny,NA,3\n';
  expect((await read(text, { null: ['NA', '-'] })).data).toEqual([
    { code: null, name: 'NA', qty: null },
    { code: 'x', name: null, qty: null },
    { code: 'y', name: null, qty: 3 },
  ]);
  expect((await read(text)).data[0]).toEqual({ code: 'NA', name: 'NA', qty: 'NA' });
});

test('lines above the header are skipped on demand, and the option is named', async () => {
  const text = 'Sales 2024\n# by region, in EUR\n\nid,region,sum\n1,North,5\n2,South,6,7\n3,West,8\n';
  await expect(openFile(text)).rejects.toThrow('most have 3; the header may be line 4: --skip-lines 3');
  const { data, bad } = await read(text, { skipLines: 3 });
  expect(data).toEqual([
    { region: 'North', sum: 5 },
    { region: 'West', sum: 8 },
  ]);
  expect(bad).toEqual(['6: the row has 4 fields, the header 3 columns']);
  const { input } = await openFile(text, { skipLines: 3 });
  // The bad rows alone are read with the same options.
  expect(input.format.header.raw).toBe('Sales 2024\n# by region, in EUR\n\nid,region,sum');
  await expect(openFile('Sales\nregion;sum\nNorth;5\nSouth;6\n')).rejects.toThrow('--skip-lines 1');
  await expect(openFile('name\tqty\n1\tBoots\t2\n2\tTent\t3\n')).rejects.toThrow('row names of R');
  const title = 'Report, May 2024\nid,name,price\n1,a,2\n2,b,3\n3,c,4\n';
  await expect(openFile(title)).rejects.toThrow(
    'if the header is line 2, give --skip-lines 1; if the first column',
  );
  const comments = await read('id,a\n1,x\n# end\n');
  expect(comments.bad[0]).toContain("grep -v '^#'");
});

const ROWS = '[{"id":1,"name":"A"},{"id":2,"name":"B"}]';
test.each([
  [`{"data":${ROWS}}`, "jq -c '.data[]' FILE"],
  [`{"meta":{"total":2},"response":{"the items":${ROWS}}}\n`, `jq -c '.response["the items"][]' FILE`],
  [JSON.stringify({ next: null, rows: JSON.parse(ROWS) }, null, 2), "jq -c '.rows[]' FILE"],
  [
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":null}]}',
    "jq -c '.features[] | {id, geometry} + .properties' FILE",
  ],
  [`{"data":[${'{"name":"A"},\n'.repeat(30_000)}{}]}`, "jq -c '.data[]' FILE"],
])(
  'a file that is one object with its rows in a list is refused with the way to take them out: %#',
  async (text, jq) => {
    await expect(openFile(text)).rejects.toThrow(jq);
    await expect(openFile(text, { flatten: true })).rejects.toThrow(jq);
  },
);

test('an object that has a list is a record beside others, or if the format is given', async () => {
  const order = `{"id":1,"items":${ROWS}}`;
  expect((await read(`${order}\n${order.replace('1', '2')}\n`, { flatten: true })).data).toHaveLength(2);
  expect((await read(order, { flatten: true, format: 'json' })).data).toEqual([{ items: ROWS }]);
  const piped = new Command([
    'import',
    '-',
    '--database',
    'd',
    '--data',
    await temporaryDirectory(),
    '--flatten',
  ]);
  piped.child.stdin.end(`${order}\n`);
  expect([await piped.ended(), piped.stderr]).toEqual([1, expect.stringContaining("jq -c '.items[]' FILE")]);
});

test('the name of an embedded column may have a comma', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'a.csv');
  await writeFile(file, 'id,"Name, full",city\n1,Ada,Rome\n');
  const embedded = async (database: string, ...embed: string[]) => {
    const target = ['--database', database, '--data', join(directory, 'data')];
    const { code, stderr } = await cosift(
      'import',
      file,
      ...target,
      ...embed.flatMap((name) => ['--embed', name]),
    );
    expect([code, stderr]).toEqual([0, '']);
    const shown = await cosift('databases', 'show', database, '--json', '--data', join(directory, 'data'));
    return JSON.parse(shown.stdout).embed.columns;
  };
  expect(await embedded('a', 'Name, full')).toEqual(['Name, full']);
  expect(await embedded('b', 'Name, full', 'city')).toEqual(['Name, full', 'city']);
  expect(await embedded('c', 'city')).toEqual(['city']);
  expect(columnNames(parseColumns('a, b'))).toEqual(['a', 'b']);
  expect(columnNames(parseColumns('c', parseColumns('a,b')))).toEqual(['a,b', 'c']);
});

test.each([
  '[null, {"name": "a", "v": 1}, {"name": "b", "v": 2}]',
  '[\n  null,\n  {"name": "a", "v": 1},\n  {"name": "b", "v": 2}\n]',
  '["x", {"name": "a", "v": 1}, {"name": "b", "v": 2}]',
  '[1, {"name": "a", "v": 1}, {"name": "b", "v": 2}]',
])('a list of JSON may begin with a value that is no record: %#', async (text) => {
  const { data, bad, report } = await read(text);
  expect([data.length, bad.length, report[0]]).toEqual([2, 1, 'read as JSON']);
});
