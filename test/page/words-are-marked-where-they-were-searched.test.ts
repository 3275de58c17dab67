import { expect } from 'vitest';
import { inBrowser } from './browser.js';

// A module of the page has no types.
const { markedParts, searchedWords } = await import(new URL('../../web/words.js', import.meta.url).href);

const SHOP = [
  {
    sku: 'SKU-000123',
    title: 'Warm jacket',
    notes: 'Ward off the cold. Stays warm, in warmth and comfort.',
    brand: 'Warm',
  },
  {
    sku: 'SKU-000999',
    title: 'Boots',
    notes: 'Two jackets of the SKU-000123 were sold with them.',
    brand: 'North',
  },
];
const TEXTS = [
  'Ward warm WARMTH warms',
  'Crème brûlée',
  'creme',
  "C++, c and don't",
  'dont 3.11',
  'SKU-000123',
  '日本語',
  'os.path',
  'xyz',
];

const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/shop', { embed: { columns: ['title', 'notes'] }, lexical: true });
  await service.call('POST', '/v1/databases/shop/records', {
    records: SHOP.map((data, at) => ({ id: at + 1, data })),
  });
  await service.call('PUT', '/v1/databases/texts', { embed: { columns: ['text'] }, lexical: true });
  await service.call('POST', '/v1/databases/texts/records', {
    records: TEXTS.map((text, at) => ({ id: at + 1, data: { text } })),
  });
});

const marked = (text: string, search: string) =>
  markedParts(text, searchedWords(search))
    .filter(({ isMarked }: { isMarked: boolean }) => isMarked)
    .map(({ text }: { text: string }) => text);

test('without a weight of exact words, nothing is marked', async ({ open }) => {
  const tab = await open({ database: 'shop', text: 'warm jacket', threshold: '0' });
  await tab.status(/^2 matches/);
  expect(await tab.page.locator('.card').first().textContent()).toContain('Warm jacket');
  expect(await tab.page.locator('mark').count()).toBe(0);
});

test('with one, whole words and beginnings of the embedded columns are marked', async ({ open }) => {
  const tab = await open({ database: 'shop', text: 'jacket warm', threshold: '0', lexical: '0.5' });
  const { page } = tab;
  await tab.status(/^2 matches/);
  const [jacket, boots] = SHOP.map(({ title }) => page.locator('.card').filter({ hasText: title }));
  // Not "Ward", and not the column of the brand, which is not embedded.
  expect(await jacket?.locator('mark').allTextContents()).toEqual(['Warm', 'jacket', 'warm', 'warmth']);
  expect(await boots?.locator('mark').allTextContents()).toEqual(['jackets']);
  await page.getByRole('searchbox').fill('SKU-000123');
  await expect.poll(() => boots?.locator('mark').allTextContents()).toEqual(['SKU', '000123']);
  expect(await jacket?.locator('mark').count()).toBe(0);
});

test('the title of a card is the first embedded column', async ({ open }) => {
  const tab = await open({ database: 'shop' });
  const { page } = tab;
  await tab.status(/^2 records/);
  expect(await page.locator('.card .lead .name').allTextContents()).toEqual(['title', 'title']);
  // Points of the map have the same name.
  await page.getByRole('button', { name: 'Map' }).click();
  const map = page.getByRole('application', { name: 'Map of 2 records' });
  await map.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => page.locator('#map-point').textContent()).toMatch(/^(Warm jacket|Boots)/);
});

test('a word is marked exactly where it counts in the score', async ({ service }) => {
  for (const text of [
    'warm',
    'war',
    'creme',
    'brulee',
    'c++',
    'c',
    "don't",
    '3.11',
    '3.1',
    '日本',
    'sku',
    'path',
  ]) {
    const { body } = await service.call('POST', '/v1/databases/texts/search', {
      search: { text, lexical: 1, threshold: 0 },
      explain: true,
      pagination: { limit: 100 },
    });
    for (const { data, explain } of body.results) {
      const isMarked = marked(data.text, text).length > 0;
      expect([text, data.text, isMarked]).toEqual([text, data.text, explain.score.lexical > 0]);
    }
  }
});

test('words that occur everywhere are not marked beside others', async () => {
  expect(marked('The Who in the view of a tower', 'a tower in the view')).toEqual(['view', 'tower']);
  expect(marked('The Who in the view', 'the who')).toEqual(['The', 'Who', 'the']);
});
