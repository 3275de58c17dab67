import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { configuredSyncs } from '../../src/sync/index.js';
import { Service } from '../server/service.js';
import { createShop, NO_SQLITE, sqlite } from '../sync/sqlite.js';
import { inBrowser } from './browser.js';

describe.skipIf(NO_SQLITE !== undefined)(`sources in the page${NO_SQLITE ? ` (${NO_SQLITE})` : ''}`, () => {
  let directory: string;
  let file: string;
  const test = inBrowser(
    async () => undefined,
    async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'cosift-sources-'));
      file = path.join(directory, 'shop.db');
      await createShop(file);
      // Nothing is embedded: no record has text in this column.
      const source = { database: 'shop', table: 'products', columns: ['name', 'price'], embed: ['price'] };
      const syncs = configuredSyncs({
        products: { ...source, from: `sqlite:${file}`, every: '24h' },
        unset: { ...source, from: 'env:SOURCE_NOT_SET' },
      });
      return await Service.start({}, { syncs });
    },
  );
  afterAll(async () => {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  test('show what was refused and what waits, and their deletions are confirmed', async ({
    open,
    service,
  }) => {
    const tab = await open();
    const { page } = tab;
    // As of a source whose log of changes cannot be used.
    await page.route('**/v1/sync', async (route) => {
      const response = await route.fetch();
      const { syncs } = await response.json();
      const shown = syncs.map((sync: object) => ({ ...sync, by_scan: 'the slot is taken' }));
      await route.fulfill({ response, json: { syncs: shown } });
    });
    await page.getByRole('button', { name: 'Databases' }).click();
    const sources = page.getByRole('region', { name: 'Sources' });
    const products = sources.getByRole('listitem').filter({ hasText: 'products' });
    await products.getByText(/in step as of/).waitFor();
    await products.getByText('39 records').waitFor();
    await products.getByText('by scan: the slot is taken').waitFor();
    await products.getByText('1 refused row').click();
    await products.getByRole('cell', { name: /9007199254740993/ }).waitFor();
    const unset = sources.getByRole('listitem').filter({ hasText: 'unset' });
    await unset.getByText('the environment variable SOURCE_NOT_SET is not set').waitFor();
    await unset.getByText(/^failed, tried again in/).waitFor();
    await sqlite(file, 'DELETE FROM products WHERE id <= 20', "INSERT INTO products VALUES (99, 'new', 1)");
    await products.getByRole('button', { name: 'Compare all rows of products' }).click();
    await products.getByText(/1 written, 0 deleted/).waitFor();
    await products.getByText('The source lacks 20 records').waitFor();
    await tab.checkAccessibility('sources');
    const { body } = await service.call('GET', '/v1/databases/shop');
    expect(body.records).toBe(40);
    await products.getByRole('button', { name: 'Delete 20 records of products' }).click();
    await products.getByText('20 records').first().waitFor();
    await products.getByText(/in step as of/).waitFor();
    expect(await products.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
    expect((await service.call('GET', '/v1/databases/shop')).body.records).toBe(20);
  });
});
