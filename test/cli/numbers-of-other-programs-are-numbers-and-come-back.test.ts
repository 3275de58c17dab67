import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { and, equals, open } from '../../src/index.js';
import { testInFull } from '../helpers/full.js';
import { cosift, KEY, launch, serve, temporaryDirectory } from '../helpers/processes.js';

/** Files as other programs write them, with the columns that are no texts. */
const FILES = {
  'pandas, DataFrame.to_csv()': {
    text: [
      ',city,temp,share,listed,count',
      '0,Bern,5.0,1e-07,True,3',
      '1,Rome,-1.5,0.25,False,4',
      '2,Oslo,,1.0,True,5',
    ],
    types: { column1: 'number', temp: 'number', share: 'number', listed: 'boolean', count: 'number' },
    formats: { temp: 'python', share: 'python', listed: 'True' },
  },
  'psql, COPY … TO … CSV HEADER of numeric(10,2)': {
    text: ['name,price,tax', '"Hat, red",749.10,0.080', 'Pen,5.00,0.200', 'Ink,,0.000'],
    types: { price: 'number', tax: 'number' },
    formats: { price: '0.00', tax: '0.000' },
  },
  'Excel, cells with two decimals and booleans': {
    text: ['title,amount,paid,note', 'a,1234.50,TRUE,x', 'b,-0.25,FALSE,y', 'c,12.00,TRUE,"1,234.50"'],
    types: { amount: 'number', paid: 'boolean' },
    formats: { amount: '0.00', paid: 'TRUE' },
  },
  'a file without zeros before the point': {
    text: ['county,rate,part,same', 'a,.097,.5,.5', 'b,.120,.25,.2', 'c,1.000,2,.1'],
    types: { rate: 'number', part: 'number', same: 'number' },
    formats: { rate: '.000', part: '.#', same: '.#' },
  },
  'numbers with more decimals than a double has there': {
    text: ['name,share', 'a,1234567890.10000000', 'b,0.00000001', 'c,-12.50000000'],
    types: { share: 'number' },
    formats: { share: '0.00000000' },
  },
};

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await cosift(...args);
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
}

async function imported(directory: string, database: string, text: readonly string[], ...options: string[]) {
  const file = join(directory, `${database}.csv`);
  await writeFile(file, `${text.join('\n')}\n`);
  return await run('import', file, '--database', database, '--data', join(directory, 'data'), ...options);
}

/** The lines of an export without the columns of the identity. */
async function exported(directory: string, database: string): Promise<string[]> {
  const { stdout } = await run(
    ...['export', '--database', database, '--format', 'csv', '--data', join(directory, 'data')],
  );
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => line.split(',').slice(2).join(','));
}

test.each(Object.entries(FILES))('%s', async (_, { text, types, formats }) => {
  const directory = await temporaryDirectory();
  await imported(directory, 'first', text);
  const named = text.map((line) => line.replace(/^,/, 'column1,'));
  expect(await exported(directory, 'first')).toEqual(named);
  {
    await using databases = await open(join(directory, 'data'));
    const description = await databases.database('first').describe();
    expect(description.formats).toEqual(formats);
    const typed = description.columns.flatMap(({ name, types }) =>
      types.includes('string') ? [] : [[name, types.find((type) => type !== 'null')]],
    );
    expect(Object.fromEntries(typed)).toEqual(types);
  }
  expect((await imported(directory, 'first', text)).stdout).toContain('0 created, 0 changed');
  // A backup has the formats, and so has a database that is made from what was exported.
  const archive = join(directory, 'backup.tar');
  await run('backup', '--output', archive, '--data', join(directory, 'data'));
  await run('restore', archive, '--data', join(directory, 'restored', 'data'));
  expect(await exported(join(directory, 'restored'), 'first')).toEqual(named);
  await imported(directory, 'second', named);
  expect(await exported(directory, 'second')).toEqual(named);
});

test('a filter finds prices, and the report says how they are written', async () => {
  const directory = await temporaryDirectory();
  const prices = ['name,price', 'Hat,749.10', 'Pen,5.00'];
  const { stdout } = await imported(directory, 'prices', prices, '--embed', 'name');
  expect(stdout).toContain('columns by type: text: name; number: price (0.00) (--types changes it)');
  const found = await run(
    ...['query', 'prices', '--where', 'price < 10', '--json', '--data', join(directory, 'data')],
  );
  const { results } = JSON.parse(found.stdout);
  expect(results).toMatchObject([{ data: { name: 'Pen', price: 5 } }]);
});

test('what stays text is named with its line and the option that decides otherwise', async () => {
  const directory = await temporaryDirectory();
  const text = ['name,version,zip,serial,mixed', 'a,1.9,01234,1,5.00', 'b,1.10,90210,12345678901234567890,5'];
  const { stdout } = await imported(directory, 'texts', text);
  expect(stdout).toContain('text: name, version, zip, serial, mixed');
  const hints = stdout.split('\n').filter((line) => line.includes('like numbers'));
  expect(hints).toEqual([
    'version looks like numbers, but is text because of 1.10 in line 3 beside 1.9 in line 2: --types version=number',
    'zip looks like numbers, but is text because of 01234 in line 2: --types zip=number',
    'serial looks like numbers, but is text because of 12345678901234567890 in line 3, which has more digits than a number keeps',
    'mixed looks like numbers, but is text because of 5 in line 3 beside 5.00 in line 2: --types mixed=number',
  ]);
  expect(await exported(directory, 'texts')).toEqual(text);
});

test('a column with a value that its format would change is written as JavaScript does', async () => {
  const directory = await temporaryDirectory();
  await imported(directory, 'prices', ['name,price', 'Hat,749.10', 'Pen,5.00']);
  {
    await using databases = await open(join(directory, 'data'));
    await databases.database('prices').upsert([{ data: { name: 'Ink', price: 3.125 } }]);
  }
  expect(await exported(directory, 'prices')).toEqual(['name,price', 'Hat,749.1', 'Pen,5', 'Ink,3.125']);
});

test('a later file adds formats, and is told of those that differ', async () => {
  const directory = await temporaryDirectory();
  await imported(directory, 'prices', ['name,price', 'Hat,749.10'], '--lexical');
  const { stderr } = await imported(directory, 'prices', ['name,price,rate', 'Ink,5.0,.25', 'Box,12.5,.5']);
  expect(stderr).toContain(
    'column "price": the file has the format python, and exports of the database have 0.00',
  );
  expect(await exported(directory, 'prices')).toEqual([
    'name,price,rate',
    'Hat,749.10,',
    'Ink,5.00,.25',
    'Box,12.50,.5',
  ]);
});

test('a later file says what it changes', async () => {
  const directory = await temporaryDirectory();
  await imported(directory, 'products', ['name,version,count,price', 'Hat,1.9,5,1.50', 'Pen,1.10,6,2.25']);
  const later = ['name,version,count,price', 'Ink,2.20,7.00,3', 'Box,1.10,8.50,4'];
  const { stderr } = await imported(directory, 'products', later);
  const notices = stderr.split('\n').filter((line) => line.startsWith('column '));
  expect(notices).toEqual([
    'column "version": a number in the file, and text in the database: --types version=text',
    'column "count": exports of the database have the format 0.00 from now on',
    'column "price": the file has the format of JavaScript, and exports of the database have 0.00',
  ]);
});

testInFull('imports side by side of files with other formats are all stored', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const prices = ['1.50', '.5', '2.0', '.250'];
  const files = prices.map((_, i) => join(directory, `${i}.csv`));
  for (const [i, file] of files.entries()) await writeFile(file, `name,price\nn${i},${prices[i]}\n`);
  const server = ['--url', url, '--key', KEY];
  for (const database of ['a', 'b']) {
    const ends = await Promise.all(
      files.map((file) => launch('import', file, '--database', database, ...server)),
    );
    for (const { code, stderr } of ends) expect(code, stderr).toBe(0);
    const { stdout } = await run('query', database, '--json', ...server);
    expect(JSON.parse(stdout).results).toHaveLength(prices.length);
  }
});

test('a key that may not keep or read formats says what that changes', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const admin = ['--url', url, '--key', KEY];
  const file = join(directory, 'a.csv');
  await writeFile(file, 'id,name,price\n1,Hat,1.50\n');
  await run('databases', 'create', 'd', '--embed', 'name', ...admin);
  await using client = new Client({ url, key: KEY });
  const writer = await client.issueKey({
    name: 'w',
    actions: ['records.read', 'records.write'],
    databases: ['d'],
  });
  const { stderr } = await run('import', file, '--database', 'd', '--url', url, '--key', writer.key);
  expect(stderr).toContain(
    'the key may not change settings of the database, so exports write the numbers of "price"',
  );

  const filter = and(equals('name', 'Hat'));
  const reader = await client.issueKey({ name: 'r', actions: ['records.read'], databases: ['d'], filter });
  const read = await run('export', '--database', 'd', '--format', 'csv', '--url', url, '--key', reader.key);
  expect(read.stderr).toContain(
    'the key may not describe the database, so numbers are written as JavaScript',
  );
});
