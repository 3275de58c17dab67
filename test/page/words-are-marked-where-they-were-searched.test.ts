import { expect } from 'vitest';
import { inBrowser } from './browser.js';

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
const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/shop', { embed: { columns: ['title', 'notes'] }, lexical: true });
  await service.call('POST', '/v1/databases/shop/records', {
    records: SHOP.map((data, at) => ({ id: at + 1, data })),
  });
});

test.inFull('without a weight of exact words, nothing is marked', async ({ open }) => {
  const tab = await open({ database: 'shop', text: 'warm jacket', threshold: '0' });
  await tab.status(/^2 matches/);
  expect(await tab.page.locator('.card').first().textContent()).toContain('Warm jacket');
  expect(await tab.page.locator('mark').count()).toBe(0);
});

test.inFull('with one, whole words and beginnings of the embedded columns are marked', async ({ open }) => {
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

test.inFull('the title of a card is the first embedded column', async ({ open }) => {
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

test('words with typos are marked, words that occur everywhere are not', async ({ open }) => {
  const tab = await open({ database: 'shop', text: 'of the jackest', threshold: '0', lexical: '0.5' });
  const marks = tab.page.locator('mark');
  await expect.poll(() => marks.allTextContents()).toEqual(['jackets', 'jacket']);
  await tab.page.getByRole('searchbox').fill('of the');
  await expect
    .poll(async () => (await marks.allTextContents()).toSorted())
    .toEqual(['of', 'the', 'the', 'them']);
});

test('the chosen columns are shown, marked, restored and copied', async ({ open }) => {
  const fragment = { database: 'shop', text: 'jacket', threshold: '0', lexical: '0.5', variant: 'A' };
  const tab = await open(fragment, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = tab;
  await tab.status(/^2 matches/);
  const choice = page.getByRole('combobox', { name: 'Show only' });
  const names = () => page.locator('.card').first().locator('.name, dt').allTextContents();
  await choice.selectOption('notes');
  await expect.poll(names).toEqual(['notes']);
  await choice.selectOption('sku');
  await expect.poll(names).toEqual(['notes', 'sku']);
  expect(await page.locator('mark').allTextContents()).toEqual(['jackets']);
  await expect.poll(() => decodeURIComponent(page.url())).toContain('columns=["notes","sku"]');
  await page.reload();
  await expect.poll(names).toEqual(['notes', 'sku']);
  await tab.checkAccessibility('a choice of columns');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  await expect.poll(copied).toContain('"columns":["notes","sku"],"highlights":true');
  await page.getByRole('button', { name: 'Do not show notes' }).click();
  await expect.poll(names).toEqual(['sku']);
  await page.getByRole('button', { name: 'Do not show sku' }).click();
  await expect.poll(names).toContain('title');
  await expect.poll(() => page.url()).not.toContain('columns=');
});
