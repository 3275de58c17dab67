import { expect } from 'vitest';
import { inFull } from '../helpers/full.js';
import { inBrowser, type Tab } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser(async (service) => {
  await storeFacts(service, 'facts');
  await service.call('PUT', '/v1/databases/empty', {});
});

const FILTER = JSON.stringify({
  condition: 'AND',
  rules: [
    { column: 'kind', operator: 'equals', value: 'landmark' },
    { condition: 'OR', rules: [{ column: 'height_m', operator: 'greater_than', value: 200 }] },
  ],
});

for (const colorScheme of inFull(['light', 'dark'] as const, ['dark'])) {
  test(`results, filter and explanation, ${colorScheme}`, async ({ open }) => {
    const tab = await open({ database: 'facts', text: 'tall tower', filter: FILTER }, { colorScheme });
    const { page } = tab;
    await tab.status(/matches/);
    await page.getByRole('region', { name: 'Facets' }).waitFor();
    await page.getByRole('button', { name: 'Explain' }).first().click();
    await page.getByText('JSON', { exact: true }).click();
    await page.getByRole('button', { name: 'Map' }).click();
    await page.getByRole('list', { name: 'Colours' }).waitFor();
    await tab.checkAccessibility('results');
    for (const name of inFull(['Databases', 'Key', 'Import'], ['Import'])) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog').waitFor();
      await tab.checkAccessibility(`the dialog ${name}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByRole('searchbox').fill('');
    await tab.status(/records/);
    await tab.checkAccessibility('a listing');
  });

  test(`preview and result of an import, ${colorScheme}`, async ({ open }) => {
    const tab = await open({ database: 'empty' }, { colorScheme });
    const { page } = tab;
    await page.getByRole('heading', { name: 'The database has no records' }).waitFor();
    await tab.checkAccessibility('a database without records');
    await page.getByRole('button', { name: 'Import' }).click();
    const buffer = Buffer.from('a,b\n1,x\n2\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'n.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('group', { name: 'First rows' }).waitFor();
    await tab.checkAccessibility('a preview');
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByRole('heading', { name: '1 record stored in n' }).waitFor();
    await tab.checkAccessibility('the end of an import');
  });

  test.inFull(`no key, no match, a refused request, and no connection, ${colorScheme}`, async ({ open }) => {
    const locked = await open({}, { key: null, colorScheme });
    await locked.page.getByRole('heading', { name: 'Enter a key' }).waitFor();
    await locked.checkAccessibility('no key');

    const tab = await open({ database: 'facts', text: 'tall tower', threshold: '0.99' }, { colorScheme });
    const { page } = tab;
    await page.getByRole('button', { name: 'Lower the threshold to 0.50' }).waitFor();
    await tab.checkAccessibility('no match');
    await page.getByRole('button', { name: 'Lower the threshold to 0.50' }).click();
    await tab.status(/^1 match ·/);

    tab.expected.add(400);
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('combobox', { name: 'Operator' }).selectOption('less_than');
    await page.getByRole('textbox', { name: 'Value' }).fill('x');
    await page.getByRole('heading', { name: 'The service refuses the request' }).waitFor();
    await tab.checkAccessibility('a refused request');
    await page.getByRole('button', { name: 'Remove rule 1' }).click();
    await tab.status(/^1 match ·/);

    await goOffline(tab);
    await page.getByRole('searchbox').fill('a lake');
    const notice = page.getByRole('heading', { name: 'No connection to the service' });
    await notice.waitFor();
    await tab.checkAccessibility('no connection');
    // The notice stays while the page tries again.
    await notice.evaluate((element) => element.setAttribute('data-same', ''));
    await page.waitForEvent('requestfailed');
    expect(await page.locator('[data-same]').count()).toBe(1);
    await tab.setOffline(false);
    // The page tries again by itself.
    await tab.status(/matches/);
    forget(tab, /ERR_INTERNET_DISCONNECTED/);
  });
}

test('the page fits every width from 360 px to 4k', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower', filter: FILTER });
  const { page } = tab;
  await tab.status(/matches/);
  for (const width of inFull([360, 390, 768, 1024, 1440, 3840], [360, 1440])) {
    await page.setViewportSize({ width, height: 900 });
    const scrollWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(scrollWidth, `${width}`).toBeLessThanOrEqual(width);
    const toggle = page.getByRole('button', { name: /^Threshold, rules/ });
    if (!(await toggle.isVisible())) continue;
    await toggle.click();
    expect(await page.getByRole('slider', { name: 'Threshold' }).isVisible()).toBe(true);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.getByRole('button', { name: /^Hide filters/ }).click();
  }
});

test('the names and roles that assistive technology and tests use', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower' });
  const { page } = tab;
  await tab.status(/matches/);
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByRole('button', { name: 'Load more' }).waitFor();
  for (const [role, name] of [
    ['searchbox', 'Search'],
    ['slider', 'Threshold'],
    ['list', 'Results'],
    ['button', 'Load more'],
    ['group', 'Filter'],
    ['button', 'Add rule'],
    ['combobox', 'Column'],
    ['combobox', 'Operator'],
    ['textbox', 'Value'],
    ['button', 'Copy as curl'],
    ['combobox', 'Database'],
  ] as const) {
    expect(await page.getByRole(role, { name }).count(), `${role} "${name}"`).toBe(1);
  }
  expect(await page.getByRole('status').count()).toBe(1);
  expect(await page.getByRole('list', { name: 'Results' }).getByRole('listitem').count()).toBe(20);
});

/** The browser lets requests pass for a moment after the call returns, because another process of it sends them. */
async function goOffline(tab: Tab): Promise<void> {
  await tab.setOffline(true);
  const isOffline = () => tab.page.evaluate<boolean>("fetch('livez').then(() => false, () => true)");
  await expect.poll(isOffline).toBe(true);
}

/** Removes faults that the test caused. */
function forget(tab: Tab, pattern: RegExp): void {
  tab.faults.splice(0, tab.faults.length, ...tab.faults.filter((fault) => !pattern.test(fault)));
}
