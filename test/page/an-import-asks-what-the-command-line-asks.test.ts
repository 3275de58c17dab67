import { expect } from 'vitest';
import { inBrowser, type Tab } from './browser.js';

const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/first', { dimensions: 2 });
});

async function choose({ page }: Tab, name: string, text: string) {
  await page.getByRole('button', { name: 'Import' }).first().click();
  const buffer = Buffer.from(text);
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer });
  await page.getByRole('group', { name: 'First rows' }).waitFor();
}

async function store({ page }: Tab, heading: string) {
  await page.getByRole('button', { name: 'Import', exact: true }).last().click();
  await page.getByRole('heading', { name: heading }).waitFor();
}

test.inFull('names of columns, and texts that stand for no value', async ({ open, service }) => {
  const tab = await open({ database: 'first' });
  const { page } = tab;
  await choose(tab, 'stock.csv', 'sku,nm,price,qty\na-1,Hat,NA,5\na-2,Pen,3.50,?\na-3,Cup,1.25,7\n');
  await page.getByText('price looks like numbers, but is text because of "NA" in line 2').waitFor();
  await page.getByText('name such texts under "No value"').first().waitFor();
  await page.getByRole('textbox', { name: 'No value' }).fill('NA, ?');
  await page.keyboard.press('Tab');
  const type = (name: string) => page.getByRole('combobox', { name: `Type of ${name}` });
  await expect.poll(() => type('price').inputValue()).toBe('number');
  expect(await type('qty').inputValue()).toBe('number');
  await page.getByLabel('Identity').selectOption('sku');
  await type('nm').selectOption('text');
  await page.getByRole('textbox', { name: 'Name of nm' }).fill('price');
  await page.keyboard.press('Tab');
  await page.getByRole('alert').filter({ hasText: 'There is a column price already.' }).waitFor();
  for (const [name, to] of [
    ['nm', 'label'],
    ['label', 'name'],
    ['sku', 'code'],
  ] as const) {
    await page.getByRole('textbox', { name: `Name of ${name}`, exact: true }).fill(to);
    await page.keyboard.press('Tab');
    await type(to).waitFor();
  }
  expect(await page.getByLabel('Identity').inputValue()).toBe('code');
  await tab.checkAccessibility('the questions of an import');
  await store(tab, '3 records stored in stock');
  const { body } = await service.call('GET', '/v1/databases/stock');
  expect(body).toMatchObject({ embed: { columns: ['name'] }, formats: { price: '0.00' } });
  const { results } = (await service.call('POST', '/v1/databases/stock/query', { sort: { column: 'name' } }))
    .body;
  expect(results.map(({ key, data }: { key: string; data: object }) => [key, data])).toEqual([
    ['a-3', { code: 'a-3', name: 'Cup', price: 1.25, qty: 7 }],
    ['a-1', { code: 'a-1', name: 'Hat', price: null, qty: 5 }],
    ['a-2', { code: 'a-2', name: 'Pen', price: 3.5, qty: null }],
  ]);
});

for (const [name, text, column, define] of [
  ['points.csv', 'id,name,embedding\n1,Hat,"[1, 0]"\n2,Pen,"[0,1]"\n', 'embedding', test],
  [
    'listed.ndjson',
    '{"id":1,"name":"Hat","vector":[1,0]}\n{"id":2,"name":"Pen","tags":["a"],"vector":[0,1]}\n',
    'vector',
    test.inFull,
  ],
] as const) {
  define(`${name}: the column with the vectors`, async ({ open, service }) => {
    const tab = await open({ database: 'first' });
    await choose(tab, name, text);
    const vectors = tab.page.getByLabel('Vectors');
    await vectors.selectOption('');
    await tab.page.getByRole('group', { name: 'Search by meaning in' }).waitFor();
    await vectors.selectOption(column);
    await tab.page.getByText('The vectors have 2 values.').waitFor();
    const id = name.split('.')[0] as string;
    await store(tab, `2 records stored in ${id}`);
    const { body } = await service.call('GET', `/v1/databases/${id}`);
    expect(body).toMatchObject({ model: null, dimensions: 2 });
    expect(body.columns.map(({ name }: { name: string }) => name)).not.toContain(column);
    // Lists are no nested objects.
    expect(body).not.toHaveProperty('flatten');
    const search = { search: { vector: [0, 1] } };
    const { results } = (await service.call('POST', `/v1/databases/${id}/search`, search)).body;
    expect(results.map(({ id }: { id: number }) => id)).toEqual([2]);
  });
}

test('how long texts are split, also later, and nested objects', async ({ open, service }) => {
  const tab = await open({ database: 'first' });
  const { page } = tab;
  const lines = ['a tower of iron', 'a cello'].map((name, at) =>
    JSON.stringify({ id: at + 1, name, at: { n: at } }),
  );
  await choose(tab, 'nested.ndjson', `${lines.join('\n')}\n`);
  await page.getByText('Long texts').click();
  await page.getByLabel('Passages of a record, at most').fill('300');
  await page.getByLabel('Tokens of a passage').fill('32');
  await store(tab, '2 records stored in nested');
  const described = async () => (await service.call('GET', '/v1/databases/nested')).body;
  expect(await described()).toMatchObject({
    flatten: true,
    embed: { columns: ['name'], passages: { per_record: 300, tokens: 32 } },
    columns: [{ name: 'name' }, { name: 'at.n' }],
  });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Databases' }).click();
  await page.getByRole('button', { name: 'Settings of nested' }).click();
  const form = page.getByRole('form', { name: 'Settings of nested' });
  expect(await form.getByLabel('Tokens of a passage').inputValue()).toBe('32');
  await form.getByLabel('Tokens of a passage').fill('300');
  tab.expected.add(400);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').filter({ hasText: 'takes at most 256 tokens' }).waitFor();
  await tab.checkAccessibility('the settings of a database');
  await form.getByLabel('Tokens of a passage').fill('');
  await form.getByLabel('Tokens that a passage repeats').fill('4');
  await form.getByRole('checkbox', { name: 'Store nested objects as columns' }).uncheck();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await described()).not.toHaveProperty('flatten');
  await expect
    .poll(async () => (await described()).embed, { timeout: 30_000 })
    .toEqual({ columns: ['name'], passages: { per_record: 300, overlap: 4 } });
});

test('a search shows the best passages of each result with their texts', async ({ open, service }) => {
  const embed = { columns: ['text'], passages: { tokens: 32, overlap: 0 } };
  await service.call('PUT', '/v1/databases/long', { embed });
  const sentences = ['The tower is made of iron.', 'A cello has four strings.', 'Bread is baked at night.'];
  const text = sentences
    .map((sentence) => `${sentence} ${'Nothing else is said about this here. '.repeat(3)}`)
    .join('');
  await service.call('POST', '/v1/databases/long/records', { records: [{ id: 1, data: { text } }] });
  const tab = await open({ database: 'long', text: 'an iron tower', threshold: '0' });
  const { page } = tab;
  await tab.status(/^1 match/);
  expect(await page.getByRole('list', { name: 'Best passages' }).count()).toBe(0);
  await page.getByLabel('Passages').selectOption('3');
  const passages = page.getByRole('list', { name: 'Best passages' }).getByRole('listitem');
  await expect.poll(() => passages.count()).toBe(3);
  expect(await passages.first().textContent()).toContain('The tower is made of iron.');
  await tab.checkAccessibility('best passages');
  // The address has the choice.
  await expect.poll(() => new URL(page.url()).hash).toContain('passages=3');
  await page.reload();
  await expect.poll(() => passages.count()).toBe(3);
});
