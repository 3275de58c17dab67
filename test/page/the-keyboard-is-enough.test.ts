import { expect } from 'vitest';
import { fan } from '../server/service.js';
import { inBrowser, type Tab } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser(async (service) => {
  await storeFacts(service, 'facts');
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(50) });
});

/** The name of the element with the focus: its label, else its text. */
async function focused({ page }: Tab): Promise<string> {
  const element = page.locator(':focus');
  const name = (await element.getAttribute('aria-label')) ?? (await element.textContent()) ?? '';
  return name.replace(/\s+/g, ' ').trim();
}

test('"Load more" goes on at the first new result, on the last page too', async ({ open }) => {
  const tab = await open({ database: 'fan', sort: 'name' });
  const { page } = tab;
  await tab.status(/^50 records/);
  const cards = page.locator('.card');
  for (const [before, after] of [
    [20, 40],
    [40, 50],
  ] as const) {
    await page.getByRole('button', { name: 'Load more' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => cards.count()).toBe(after);
    expect(await page.locator(`.card:nth-child(${before + 1}):focus`).count()).toBe(1);
  }
});

test('a new rule has the focus, and the button that adds one has it after a rule is removed', async ({
  open,
}) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  await page.getByRole('button', { name: 'Add rule' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Column');
  await page.keyboard.type('kind');
  for (const name of ['Operator', 'Remove rule 1', 'Value']) {
    await page.keyboard.press('Tab');
    expect(await focused(tab)).toBe(name);
  }
  await page.keyboard.type('planet');
  await tab.status(/^8 records/);
  await page.getByRole('button', { name: 'Add group' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Column');
  const nested = page.getByRole('group', { name: 'Nested rules 2' });
  expect(await nested.locator(':focus').count()).toBe(1);
  await nested.getByRole('button', { name: 'Add nested rule' }).focus();
  await page.keyboard.press('Enter');
  expect(await nested.getByRole('group', { name: 'Rule 2' }).locator(':focus').count()).toBe(1);
  await nested.getByRole('button', { name: 'Remove rule 2' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Add nested rule');
  await nested.getByRole('button', { name: 'Remove group' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Add rule');
  await page.getByRole('button', { name: 'Remove rule 1' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Add rule');
  await tab.status(/^331 records/);
});

test.inFull('the name of a database that is to be deleted can be typed at once', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await page.getByRole('button', { name: 'Databases' }).focus();
  await page.keyboard.press('Enter');
  const button = page.getByRole('button', { name: 'Delete facts' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('fact');
  expect(await page.getByRole('textbox', { name: /^Type facts to delete/ }).inputValue()).toBe('fact');
  await page.getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  expect(await focused(tab)).toBe('Delete facts');
});

test.inFull(
  'each step of an import goes on where the step before was, and keeps what was entered',
  async ({ open }) => {
    const tab = await open({ database: 'facts' });
    const { page } = tab;
    await page.getByRole('button', { name: 'Import' }).focus();
    await page.keyboard.press('Enter');
    const buffer = Buffer.from('code,name\n7,Rain jacket\n8,Sun hat\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'hats.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('group', { name: 'First rows' }).waitFor();
    for (const name of ['First rows', 'Name of code', 'Type of code']) {
      await page.keyboard.press('Tab');
      expect(await focused(tab)).toBe(name);
    }
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('clothes');
    await page.getByRole('combobox', { name: 'Type of name' }).selectOption('number');
    await page.getByRole('combobox', { name: 'Identity' }).selectOption('code');
    await page.getByText('The values of code are integer ids').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('clothes');
    expect(await page.getByRole('combobox', { name: 'Type of name' }).inputValue()).toBe('number');
    await page.getByRole('combobox', { name: 'Type of name' }).selectOption('text');
    await page.getByRole('button', { name: 'Import', exact: true }).last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '2 records stored in clothes' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(tab)).toBe('Search clothes');
    await page.keyboard.press('Enter');
    await tab.status(/^2 records/);
  },
);
