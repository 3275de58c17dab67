import { expect } from 'vitest';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { inFull } from '../helpers/full.js';
import { inBrowser } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser(async (service) => {
  await storeFacts(service, 'landmarks');
});

test('a sample is sent with the key of the page, which is in no address', async ({ open, service }) => {
  const tab = await open({ database: 'landmarks' });
  const { page } = tab;
  await tab.status(/331 records/);
  await page.getByRole('link', { name: 'API' }).click();
  await page.getByRole('heading', { name: 'cosift: HTTP API' }).waitFor();
  const form = page.locator('[aria-label="Sample of searchB"]');
  await page.locator('details.try', { has: form }).locator('summary').click();
  await form.getByRole('button').click();
  await form.getByText(/^200 /).waitFor();
  const response = JSON.parse((await form.locator('pre').textContent()) ?? '');
  expect(response.results[0].data.name).toBe('Eiffel Tower');
  if (inFull(true, false)) await tab.checkAccessibility('a sample');
  expect(page.url()).not.toContain(service.adminKey);
});

test.inFull('parameters, bodies and errors are those of the form', async ({ open }) => {
  const tab = await open({}, { key: null });
  const { page } = tab;
  await page.goto(`${page.url().split('#')[0]}docs`);
  const form = page.locator('[aria-label="Sample of readRecord"]');
  await page.locator('details.try', { has: form }).locator('summary').click();
  tab.expected.add(401).add(404);
  await form.getByRole('button').click();
  await form.getByText(/^401 /).waitFor();
  await page.getByLabel('Key of the samples').fill('two words');
  await form.getByRole('button').click();
  await form.getByText('no spaces').waitFor();
});

test('every operation has a sample, but for pages and archives', async ({ open, service }) => {
  const tab = await open();
  const { page } = tab;
  await page.goto(`${service.url}/docs`);
  const names = await page
    .locator('form')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('aria-label')));
  const operations = Object.keys(OPERATIONS).filter((id) => !['docs', 'page', 'backup'].includes(id));
  expect(names.sort()).toEqual(operations.map((id) => `Sample of ${id}`).sort());
  // Nothing is deleted by a click alone.
  for (const value of await page.locator('form[data-method=DELETE] input[required]').all()) {
    expect(await value.inputValue()).toBe('');
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await tab.checkAccessibility('all samples');
});

test.inFull(
  'no text of the contents is below the bullet of another entry, at any width',
  async ({ open, service }) => {
    const { page } = await open();
    await page.goto(`${service.url}/docs`);
    for (const width of [360, 768, 1024, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const boxes = await page.locator('nav li').evaluateAll((items) =>
        items.map((item) => {
          const { left, right, top, bottom } = item.getBoundingClientRect();
          return { left, right, top, bottom };
        }),
      );
      // A bullet takes about 1.1 em to the left of its entry.
      const covered = boxes.filter(({ left, top, bottom }) =>
        boxes.some(
          (other) => other.left < left && other.right > left - 16 && other.top < bottom && other.bottom > top,
        ),
      );
      expect([width, covered]).toEqual([width, []]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
  },
);
