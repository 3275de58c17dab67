import { expect } from 'vitest';
import { inBrowser } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser((service) => storeFacts(service, 'facts'));

test('each result leads to those that are like it, and a text leads back', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'a tall tower', threshold: '0.2' });
  const { page } = tab;
  await tab.status(/matches/);
  const first = page.locator('.card').first();
  const id = (await first.locator('.id').textContent()) as string;
  await first.getByRole('button', { name: 'More like this' }).click();
  await page.getByText(`More like ${id}`).waitFor();
  await expect.poll(() => page.locator('.card .id').allTextContents()).not.toContain(id);
  expect(await page.locator('.card .score').count()).toBeGreaterThan(0);
  expect(await page.getByRole('searchbox').inputValue()).toBe('');
  await expect.poll(() => page.url()).toContain(`like=${id.slice(1)}`);
  await page.reload();
  await page.getByText(`More like ${id}`).waitFor();
  await page.getByRole('searchbox').fill('a tall tower');
  await expect.poll(() => page.locator('.card .id').allTextContents()).toContain(id);
  await expect.poll(() => page.url()).not.toContain('like=');
});
