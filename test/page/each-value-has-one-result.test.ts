import { expect } from 'vitest';
import { inBrowser } from './browser.js';

const BRANDS = ['North', 'South', 'North', 'North', undefined, 'South', undefined];

const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/shop', { embed: { columns: ['title'] } });
  await service.call('POST', '/v1/databases/shop/records', {
    records: BRANDS.map((brand, at) => ({
      id: at + 1,
      data: { title: `a jacket ${at}`, ...(brand && { brand }) },
    })),
  });
});

test('a column has one result for each value, with the number of matches', async ({ open }) => {
  const tab = await open({ database: 'shop', text: 'jacket', threshold: '0' });
  const { page } = tab;
  await tab.status(/^7 matches/);
  await page.getByRole('combobox', { name: 'One result for each value of' }).selectOption('brand');
  await tab.status(/^4 matches/);
  const counts = () =>
    page
      .locator('.card .foot')
      .getByText(/^first of/)
      .allTextContents();
  expect((await counts()).toSorted()).toEqual(['first of 2 with this brand', 'first of 3 with this brand']);
  await tab.checkAccessibility('distinct results');
  await expect.poll(() => page.url()).toContain('distinct=brand');
  await page.reload();
  await tab.status(/^4 matches/);
  await page.getByRole('searchbox').fill('');
  await tab.status(/^4 records/);
  await page.getByRole('button', { name: 'Map' }).click();
  await page.getByRole('application', { name: 'Map of 7 records' }).waitFor();
  await page.getByRole('combobox', { name: 'One result for each value of' }).selectOption('');
  await tab.status(/^7 records/);
  expect(await counts()).toEqual([]);
});
