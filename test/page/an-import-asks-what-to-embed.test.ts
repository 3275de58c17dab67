import { expect } from 'vitest';
import { TextColumns } from '../../src/readers/text-columns.js';
import { inBrowser, type Tab } from './browser.js';

const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/titles', { embed: { columns: ['title'] } });
  await service.call('PUT', '/v1/databases/vectors', { dimensions: 2 });
});

const CSV = [
  'id,sku,title,tenant,added,price,link,notes',
  '1,SKU-000123,Rain jacket,acme,2024-01-02,"59,90",https://example.com/1,"Warm, waterproof and light."',
  '2,SKU-000124,Sun hat,acme,2024-01-03,"12,00",https://example.com/2,Wide brim.',
  '3,SKU-000125,Tent,acme,2024-01-04,"199,00",https://example.com/3,For two people and a dog.',
].join('\n');

async function choose({ page }: Tab, name: string, text: string) {
  await page.getByRole('button', { name: 'Import' }).first().click();
  const buffer = Buffer.from(text);
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer });
  await page.getByRole('group', { name: 'First rows' }).waitFor();
}

const submit = ({ page }: Tab) => page.getByRole('button', { name: 'Import', exact: true }).last().click();
const embedded = ({ page }: Tab) => page.getByRole('group', { name: 'Search by meaning in' });

test('the columns that say what a record is are chosen, and the choice is that of the database', async ({
  open,
  service,
}) => {
  const tab = await open({ database: 'titles' });
  const { page } = tab;
  await choose(tab, 'products.csv', CSV);
  const boxes = embedded(tab).getByRole('checkbox');
  const names = ['sku', 'title', 'tenant', 'added', 'price', 'link', 'notes'];
  const labels = embedded(tab).locator('.checks label');
  expect(await labels.allTextContents()).toEqual(
    [...names, 'Also search exact words'].map((name) => expect.stringContaining(name)),
  );
  const isChecked = await Promise.all((await boxes.all()).map((box) => box.isChecked()));
  expect(isChecked).toEqual([false, true, false, false, false, false, true, false]);
  await page.getByText('The choice can be changed later').waitFor();
  // A column of numbers has no texts.
  await page.getByRole('combobox', { name: 'Type of notes' }).selectOption('number');
  expect(await boxes.count()).toBe(7);
  await page.getByRole('combobox', { name: 'Type of notes' }).selectOption('text');
  await embedded(tab).getByRole('checkbox', { name: 'sku' }).check();
  await embedded(tab).getByRole('checkbox', { name: 'notes' }).uncheck();
  await embedded(tab).getByRole('checkbox', { name: 'Also search exact words' }).check();
  await submit(tab);
  await page.getByRole('heading', { name: '3 records stored in products' }).waitFor();
  const { body } = await service.call('GET', '/v1/databases/products');
  expect(body).toMatchObject({ embed: { columns: ['sku', 'title'] }, lexical: true });
});

test('without a choice of columns nothing is created, and what an existing database embeds is shown', async ({
  open,
  service,
}) => {
  const tab = await open({ database: 'titles' });
  const { page } = tab;
  await choose(tab, 'empty.csv', CSV);
  for (const name of ['title', 'notes']) await embedded(tab).getByRole('checkbox', { name }).uncheck();
  await submit(tab);
  await page.getByRole('alert').filter({ hasText: 'Choose at least one column.' }).waitFor();
  await tab.checkAccessibility('no column is chosen');
  expect((await service.call('GET', '/v1/databases/empty')).status).toBe(404);
  const target = page.getByRole('combobox', { name: 'Target database' });
  await target.selectOption('titles');
  await page.getByText('titles is searched by meaning in title.').waitFor();
  expect(await embedded(tab).count()).toBe(0);
  await target.selectOption('vectors');
  await page.getByText('vectors has no model').waitFor();
  await page.keyboard.press('Escape');
  await choose(tab, 'names.csv', 'name\nRome');
  await target.selectOption('titles');
  await page.getByRole('alert').filter({ hasText: 'The file has none of these columns' }).waitFor();
});

test.inFull('a file without texts is imported for listings', async ({ open, service }) => {
  const tab = await open({ database: 'titles' });
  await choose(tab, 'numbers.csv', 'a,b\n1,2\n3,4\n');
  await tab.page.getByText('No column has texts').waitFor();
  await submit(tab);
  await tab.page.getByRole('heading', { name: '2 records stored in numbers' }).waitFor();
  expect((await service.call('GET', '/v1/databases/numbers')).body.embed).toEqual({});
});

test.inFull(
  'in JSON, columns with a text can be chosen, whatever else they have',
  async ({ open, service }) => {
    const tab = await open({ database: 'titles' });
    await choose(tab, 'films.ndjson', '{"Title":1776,"Year":1972}\n{"Title":"The Wild Bunch","Year":1969}\n');
    expect(await embedded(tab).locator('label').first().textContent()).toContain('Title');
    expect(await embedded(tab).getByRole('checkbox').count()).toBe(2);
    const warning = tab.page.getByText('1 value of Title is a number or a boolean');
    await warning.waitFor();
    await tab.page.getByRole('combobox', { name: 'Type of Title' }).selectOption('text');
    await expect.poll(() => warning.count()).toBe(0);
    await tab.page.getByRole('combobox', { name: 'Type of Title' }).selectOption('as in the file');
    await submit(tab);
    await tab.page.getByRole('heading', { name: '2 records stored in films' }).waitFor();
    expect((await service.call('GET', '/v1/databases/films')).body.embed).toEqual({ columns: ['Title'] });
  },
);

test('the choice follows from the values', async () => {
  const many = <T>(values: T[]) => Array.from({ length: 40 }, (_, at) => values[at % values.length]);
  const columns: Record<string, (string | undefined)[]> = {
    name: many(['']).map((_, at) => `Name of record number ${'abcdefghij'[at % 10]} ${at}`),
    person: many(['Ada', 'Bo', 'Cy', 'Di', 'Ed']).map(
      (first, at) => `${first} ${'klmnopqrst'[at % 10]}ung${'uvwx'[at % 4]}`,
    ),
    description: many([
      'The first of a few long texts that repeat.',
      'The second of these texts, which repeats too.',
    ]),
    category: many(['Home & Garden', 'Toys']),
    code: many(['SKU-000123', 'A-1', 'x_9']),
    uuid: many(['0b3f1c52-7d0e-4d8e-9a43-0123456789ab']),
    date: many([
      '2024-01-02',
      '2024-01-02T10:00:00Z',
      '02.01.2024',
      '2 January 2024',
      'Jan 2, 2024',
      'Tue, 02 Jan 2024 10:00:00 GMT',
    ]),
    url: many(['https://example.com/a', 'www.example.com', 'mailto:a@b.example']),
    email: many(['ada@example.com']),
    price: many(['59,90', '$1,234.50', '12 kg', '10 %', '1.10']),
    phone: many(['+49 30 123456', '(555) 010-9999']),
    currency: many(['EUR', 'USD']),
    file: many(['img/a_b.png', 'C:\\temp\\a.txt']),
    tags: many(['["red","green"]', '[]']),
    flag: many(['yes', 'no', 'N/A']),
    empty: many(['']),
  };
  const texts = new TextColumns();
  const names = Object.keys(columns);
  for (let line = 1; line <= 40; line += 1) {
    const cells = names.map((name) => columns[name]?.[line - 1] ?? null);
    texts.observe({ names, cells, line, raw: () => '' });
  }
  expect(texts.telling(names)).toEqual(['name', 'person', 'description']);
  // A file of categories alone is searched in these.
  expect(texts.telling(['category', 'code', 'url'])).toEqual(['category']);
  expect(texts.telling(['code', 'url', 'uuid'])).toEqual(['code']);
  expect(texts.telling(['date', 'url', 'uuid', 'price', 'empty'])).toEqual([]);
});

test('a long text takes no longer to judge than to read', async () => {
  const texts = new TextColumns();
  const cells = ['1'.repeat(1_000_000), `${'a_'.repeat(500_000)} b`, `${'a '.repeat(500_000)}`];
  const names = ['digits', 'underscores', 'words'];
  texts.observe({ names, cells, line: 1, raw: () => '' });
  expect(texts.telling(names)).toEqual(['underscores', 'words']);
});
