import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testInFull } from '../helpers/full.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

// Each test starts several processes.
const MOVIES = [
  { Title: 'Alien', Director: 'Ridley Scott', Year: 1979 },
  { Title: 1776, Director: null, Year: 1972 },
  { Title: ' ', Director: 'Robert Altman', Year: 1975 },
  { Title: null, Director: null, Year: 2001 },
];
const NUMBER =
  '1 record has a number in the embedded column "Title", which is not searched: --types Title=text\n';

async function importer(lines: readonly object[]) {
  const directory = await temporaryDirectory();
  const file = join(directory, 'movies.ndjson');
  await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  return (...args: string[]) =>
    cosift('import', file, '--database', 'm', '--data', join(directory, 'data'), ...args);
}

test('numbers in a column of texts and records without text, where every text is embedded', async () => {
  const load = await importer(MOVIES);
  const without = '2 of 4 records have no text, so no search by meaning finds them\n';
  const tried = await load('--dry-run');
  expect([tried.code, tried.stderr]).toEqual([0, '']);
  expect(tried.stdout).toContain(NUMBER + without);
  expect((await load()).stdout).toContain(NUMBER + without);
  // The same for a database that exists.
  expect((await load()).stdout).toContain(NUMBER + without);
  const asText = await load('--types', 'Title=text');
  expect(asText.stdout).not.toContain('has a number');
  expect(asText.stdout).toContain('1 of 4 records has no text, so no search by meaning finds it\n');
});

test('records without text in the columns that are embedded, whose numbers are searched', async () => {
  const load = await importer(MOVIES);
  const without =
    '2 of 4 records have no text in the embedded columns (Title), so no search by meaning finds them\n';
  for (const args of [['--embed', 'Title', '--dry-run'], ['--embed', 'Title'], []]) {
    const { stdout } = await load(...args);
    expect(stdout, args.join(' ')).toContain(without);
    expect(stdout).not.toContain('has a number');
  }
  const movies = (data: object) => ({ key: JSON.stringify(data), data });
  const records = await importer(MOVIES.map(movies));
  expect((await records()).stdout).toContain(NUMBER);
});

test('nothing, where every record is searched or brings its vector', async () => {
  const load = await importer([{ Title: 'Alien', Year: 1979 }]);
  for (const args of [['--dry-run'], []])
    expect((await load(...args)).stdout).not.toMatch(/no text|a number/);
  const vectors = await importer([{ data: { n: 1 }, vector: [1, 0] }]);
  for (const args of [['--dimensions', '2', '--dry-run'], ['--dimensions', '2'], []]) {
    const { stdout } = await vectors(...args);
    expect(stdout).not.toMatch(/no text|a number/);
  }
});

testInFull('once, that the built-in model does not know the language of the texts', async () => {
  const notice =
    'most texts are not in English, the only language that the model all-MiniLM-L6-v2 knows. For about 100 languages: ' +
    'npm install @cosift/model-multilingual-e5, then: cosift reembed m --model multilingual-e5-small\n';
  const texts = ['Der See ist tief und die Berge sind hoch', 'Das Wasser wird im Winter zu Eis'];
  const load = await importer(texts.map((text, at) => ({ id: at + 1, text, Note: 'It is of no interest.' })));
  for (const args of [['--embed', 'text', '--dry-run'], ['--embed', 'text'], []]) {
    const { stdout, stderr } = await load(...args);
    expect(stdout.split(notice), args.join(' ')).toHaveLength(2);
    expect(stderr).not.toContain('English');
  }
  // Of a long file before its end.
  const many = Array.from({ length: 2_000 }, (_, at) => ({ id: at + 1, text: texts[at % 2] }));
  const longer = await importer(many);
  const { stdout, stderr } = await longer();
  expect(stderr.split(notice)).toHaveLength(2);
  expect(stdout).not.toContain('English');
  // Neither numbers of articles nor names of people are of a language.
  const names = [
    'Ludwig van Beethoven',
    'Charles de Gaulle',
    'SKU-0001 XL/DE',
    'María de la Cruz',
    'Zoë Müller',
  ];
  const others = await importer(names.map((text, at) => ({ id: at + 1, text })));
  expect((await others()).stdout).not.toContain('English');
});
