import { expect } from 'vitest';
import { inBrowser } from './browser.js';

const LONG_NAME = 'n'.repeat(240);

const test = inBrowser(async (service) => {
  await service.call('PUT', '/v1/databases/extremes', {});
  const records = [
    { data: { text: `a compiler ${'long'.repeat(2_000)}`, number: 1e308, [LONG_NAME]: 1e-9 } },
    { data: { text: 'a compiler', number: 5, [LONG_NAME]: 2e-9 } },
    { data: { text: 'another compiler', number: 7, [LONG_NAME]: 3e-9 } },
  ];
  await service.call('POST', '/v1/databases/extremes/records', { records });
});

for (const width of [1280, 390]) {
  const define = width === 390 ? test : test.inFull;
  define(`huge numbers and long names do not widen the page, ${width} px`, async ({ open }) => {
    const tab = await open(
      { database: 'extremes', text: 'compiler', threshold: '0' },
      { viewport: { width, height: 900 } },
    );
    const { page } = tab;
    await tab.status(/^3 matches/);
    const toggle = page.getByRole('button', { name: 'Threshold, rules and facets' });
    if (await toggle.isVisible()) await toggle.click();
    const facet = page.getByRole('group', { name: 'number', exact: true });
    await facet.waitFor();
    await page.getByRole('group', { name: LONG_NAME }).waitFor();
    expect(await facet.locator('.scale').textContent()).toMatch(/E308$/);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });
}

test('a long text leaves room for the other results', async ({ open }) => {
  const tab = await open({ database: 'extremes', text: 'compiler', threshold: '0' });
  await tab.status(/^3 matches/);
  const lead = tab.page.locator('.lead').filter({ hasText: 'longlong' });
  const [height, lines] = await lead.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(height).toBeLessThan(300);
  expect(lines).toBeGreaterThan(300);
});
