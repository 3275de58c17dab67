import { expect } from 'vitest';
import { fan } from '../server/service.js';
import { inBrowser } from './browser.js';
import { storeFacts } from './facts.js';

const ANSWER = 'The violin was made in Cremona by Antonio Stradivari.';
const MINUTES = `${'The committee discussed the budget 😀. '.repeat(59)}${ANSWER} Nobody objected.`;

const test = inBrowser(async (service) => {
  await storeFacts(service, 'facts');
  await storeFacts(service, 'words', { lexical: true });
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(90) });
  await service.call('PUT', '/v1/databases/seen', {});
  const lakes = ['Der Bodensee ist der tiefste See.', 'Auf dem See fahren im Sommer Schiffe.'];
  await service.call('POST', '/v1/databases/seen/records', {
    records: lakes.map((text) => ({ data: { text } })),
  });
  await service.call('PUT', '/v1/databases/minutes', {});
  const records = [
    { data: { title: 'Minutes', text: MINUTES } },
    { data: { title: 'A tower', text: 'It guides ships.' } },
  ];
  await service.call('POST', '/v1/databases/minutes/records', { records });
});

test('the newest text decides, and the line tells matches, time and records', async ({ open, service }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/331 records ·/);
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('tall tower', { delay: 5 });
  const expected = await service.call('POST', '/v1/databases/facts/search', {
    search: { text: 'tall tower' },
    total: true,
    pagination: { limit: 20 },
  });
  const line = await tab.status(new RegExp(`^${expected.body.total.value} matches`));
  expect(line).toMatch(/^\d+ matches · [\d,.]+ ms · 331 records scanned$/);
  const items = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
  await expect.poll(() => items.count()).toBe(20);
  const ids = expected.body.results.map(({ id }: { id: number }) => `#${id}`);
  await expect.poll(() => page.locator('.card .id').allTextContents()).toEqual(ids);
  // The card shows the score, and the time.
  const first = await items.first().textContent();
  expect(first).toContain(expected.body.results[0].relevance_score.toFixed(3));
  expect(first).toMatch(/changed (just now|.* ago)/);
  // Its description has words of the search, so it comes before the columns that have none.
  expect(await items.first().locator('dt').first().textContent()).toBe('description');
});

test.inFull('letters that follow each other share one search, which follows a pause', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/331 records ·/);
  await page.getByRole('region', { name: 'Facets' }).waitFor();
  const requests: { text: string; limit: number }[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/search')) return;
    const { search, pagination } = request.postDataJSON();
    requests.push({ text: search.text, limit: pagination.limit });
  });
  await tab.pauseClock();
  await page.getByRole('searchbox').focus();
  for (const letter of 'a tall tower with a view') {
    await page.keyboard.type(letter);
    await page.clock.runFor(150);
  }
  expect(requests).toEqual([]);
  await page.clock.runFor(150);
  await expect.poll(() => requests).toEqual([{ text: 'a tall tower with a view', limit: 20 }]);
  // Requests have some distance from each other, by the clock that stands still now.
  await page.clock.runFor(50);
  // Enter ends the pause.
  await page.keyboard.type(' of Paris');
  await page.keyboard.press('Enter');
  await expect.poll(() => requests.at(-1)).toEqual({ text: 'a tall tower with a view of Paris', limit: 20 });
  await page.clock.resume();
  await tab.status(/matches ·/);
});

test.inFull('a result of an earlier text never replaces that of a later one', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/331 records ·/);
  let held = 0;
  await page.route('**/search', async (route) => {
    const { search, pagination } = route.request().postDataJSON();
    // The response to the first text arrives last.
    if (search.text === 'planet' && pagination.limit > 1) {
      held += 1;
      await new Promise((resolve) => page.once('request', resolve));
    }
    await route.continue().catch(() => undefined);
  });
  const box = page.getByRole('searchbox', { name: 'Search' });
  const requested = page.waitForRequest((request) => request.postData()?.includes('"planet"') ?? false);
  await box.fill('planet');
  await requested;
  await box.fill('bridge');
  await expect.poll(() => page.locator('.card').first().textContent()).toMatch(/[Bb]ridge/);
  expect(held).toBe(1);
});

test('"Load more" shows every record once, until the end', async ({ open }) => {
  const tab = await open({ database: 'fan' });
  const { page } = tab;
  await tab.status(/^90 records/);
  const more = page.getByRole('button', { name: 'Load more' });
  const ids = page.locator('.card .id');
  for (let shown = 20; shown < 90; shown += 20) {
    await expect.poll(() => ids.count()).toBe(shown);
    await more.click();
  }
  await expect.poll(() => ids.count()).toBe(90);
  await expect.poll(() => more.count()).toBe(0);
  expect(new Set(await ids.allTextContents()).size).toBe(90);
  // Without a model there is nothing to type.
  expect(await page.getByRole('searchbox').isDisabled()).toBe(true);
});

test.inFull('the keyboard alone reaches a result, its explanation and the search again', async ({ open }) => {
  const filter = JSON.stringify({
    condition: 'OR',
    rules: [
      { column: 'country', operator: 'equals', value: 'France' },
      { column: 'height_m', operator: 'greater_than', value: 300 },
    ],
  });
  const tab = await open({ database: 'facts', text: 'tall tower', filter });
  const { page } = tab;
  await tab.status(/matches/);
  const focused = () => page.locator(':focus').textContent();
  await page.getByRole('searchbox').focus();
  await page.keyboard.press('ArrowDown');
  const first = await focused();
  expect(first).toContain('Skytree');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).not.toBe(first);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Explain');
  await page.keyboard.press('Enter');
  const explanation = await page.locator('.explanation').textContent();
  expect(explanation).toContain('is at least the threshold 0.2');
  expect(explanation).toContain('does not hold: country equals "France"');
  expect(explanation).toContain('holds: height_m is greater than 300');
  await page.keyboard.press('Escape');
  expect(await page.locator(':focus').getAttribute('type')).toBe('search');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('/');
  expect(await page.locator(':focus').getAttribute('type')).toBe('search');
});

test('the card of a long record shows the passage that matches best', async ({ open }) => {
  const tab = await open({ database: 'minutes', text: 'Who made the violin?', threshold: '0' });
  const { page } = tab;
  await tab.status(/^2 matches/);
  const card = page.locator('.card').filter({ hasText: 'Minutes' });
  expect(await card.locator('dt').first().textContent()).toBe('text, best passage');
  const quote = card.locator('dd').first();
  const shown = String(await quote.textContent()).trim();
  expect(shown).toMatch(/^… The committee discussed the budget 😀\. /);
  expect(shown).toContain(ANSWER);
  expect(shown.length).toBeLessThan(MINUTES.length / 2);
  // The answer is not hidden below the last line.
  const [height, content] = await quote.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(height).toBe(content);
  expect(await page.getByText('best passage').count()).toBe(1);
  await tab.checkAccessibility('a passage');
});

test.inFull('the histogram of scores counts what each threshold passes', async ({ open, service }) => {
  const tab = await open({ database: 'facts', text: 'tall tower' });
  const { page } = tab;
  const bars = page.locator('.histogram .bar');
  await expect.poll(() => bars.nth(4).getAttribute('title')).not.toMatch(/^0 /);
  const { body } = await service.call('POST', '/v1/databases/facts/search', {
    search: { text: 'tall tower', threshold: 0.2 },
    total: true,
  });
  const titles = await Promise.all((await bars.all()).map((bar) => bar.getAttribute('title')));
  const counts = titles.map((title) => Number.parseInt(title ?? '', 10));
  expect(counts).toHaveLength(20);
  expect(counts.reduce((sum, count) => sum + count)).toBe(331);
  expect(counts.slice(4).reduce((sum, count) => sum + count)).toBe(body.total.value);
  const slider = page.getByRole('slider', { name: 'Threshold' });
  await slider.fill('0.5');
  await tab.status(/^1 match ·/);
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => page.locator('.threshold h2 .number').textContent()).toBe('0.49');
  // What scores mean is known of the built-in model.
  expect(await page.locator('.threshold').textContent()).toContain('Related from about 0.3');
});

test.inFull('texts in a language that the model does not know are told of, once', async ({ open }) => {
  const { page } = await open({ database: 'seen' });
  await page.locator('.threshold').getByText('Most texts are not in English').waitFor();
  expect(
    (await page.locator('body').textContent())?.split('npm install @cosift/model-multilingual-e5'),
  ).toHaveLength(2);
  await page.getByRole('combobox', { name: 'Database' }).selectOption('words');
  await page.getByText('Begin with 0.3.').waitFor();
  expect(await page.locator('.threshold').textContent()).not.toContain('English');
});

test.inFull('the threshold can be set before a text is entered', async ({ open, service }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  await page.getByRole('slider', { name: 'Threshold' }).fill('0.4');
  await page.getByText('The least score of a search').waitFor();
  expect(await page.getByRole('img', { name: /^Histogram/ }).count()).toBe(0);
  await page.getByRole('searchbox').fill('tall tower');
  const { body } = await service.call('POST', '/v1/databases/facts/search', {
    search: { text: 'tall tower', threshold: 0.4 },
    total: true,
  });
  await tab.status(new RegExp(`^${body.total.value} matches ·`));
  await page.getByRole('img', { name: /^Histogram of the scores of 331 records/ }).waitFor();
  // Vectors of one's own are not searched by a text.
  const vectors = await open({ database: 'fan' });
  await vectors.status(/^90 records/);
  expect(await vectors.page.getByRole('slider').count()).toBe(0);
});

test.inFull('a response that is cut off is no response, and the page tries again', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower' });
  const { page } = tab;
  await tab.status(/matches ·/);
  await page.evaluate(() => {
    const { fetch } = globalThis;
    let isCut = false;
    globalThis.fetch = async (address, options) => {
      // Requests for the text before may still be sent.
      if (isCut || !String(options?.body).includes('a lake')) return fetch(address, options);
      isCut = true;
      return new Response(new ReadableStream({ start: (body) => body.error(new TypeError('cut off')) }));
    };
  });
  // The page tries again after two seconds of its clock, which stands still once the request has begun.
  await tab.pauseClock();
  await page.getByRole('searchbox').fill('a lake');
  await page.clock.runFor(1_000);
  await page.getByRole('heading', { name: 'No connection to the service' }).waitFor();
  await page.clock.resume();
  await tab.status(/matches ·/);
});

test.inFull(
  'the weight of exact words changes the order, where a database has them',
  async ({ open, service }) => {
    const without = await open({ database: 'facts', text: 'tall tower' });
    await without.status(/matches ·/);
    expect(await without.page.getByRole('slider', { name: 'Exact words' }).count()).toBe(0);
    const tab = await open({ database: 'words', text: 'tall tower' });
    const { page } = tab;
    await tab.status(/matches ·/);
    const { body } = await service.call('POST', '/v1/databases/words/search', {
      search: { text: 'tall tower', lexical: 0.5, prefix: true },
      explain: true,
    });
    const [best] = body.results;
    await page.getByRole('slider', { name: 'Exact words' }).fill('0.5');
    // Scores without any of the words are halved, so the advice and the default threshold are too.
    await expect.poll(() => page.locator('.threshold h2 .number').first().textContent()).toBe('0.10');
    expect(page.url()).not.toContain('threshold');
    await expect.poll(() => page.locator('.threshold').textContent()).toContain('Related from about 0.15');
    const first = page.locator('.card').first();
    await expect.poll(() => first.textContent()).toContain(best.relevance_score.toFixed(3));
    await first.getByRole('button', { name: 'Explain' }).click();
    expect(await first.textContent()).toContain(`exact words ${best.explain.score.lexical.toFixed(3)}`);
    await expect.poll(() => page.url()).toContain('lexical=0.5');
  },
);

test.inFull('a database has its own defaults', async ({ open, service }) => {
  const defaults = { threshold: 0.15, lexical: 0.5 };
  await storeFacts(service, 'defaults', { lexical: true, defaults });
  const tab = await open({ database: 'defaults', text: 'tall tower' });
  const { page } = tab;
  await tab.status(/matches ·/);
  const { body } = await service.call('POST', '/v1/databases/defaults/search', {
    search: { text: 'tall tower', prefix: true },
    pagination: { limit: 20 },
  });
  const shown = body.results.map(({ id }: { id: number }) => `#${id}`);
  await expect.poll(() => page.locator('.card .id').allTextContents()).toEqual(shown);
  const numbers = page.locator('.threshold h2 .number');
  expect(await numbers.allTextContents()).toEqual(['0.15', '0.50']);
  // Without a weight of words, the default does not count, and neither does what follows from it.
  await page.getByRole('slider', { name: 'Exact words' }).fill('0');
  const alone = await service.call('POST', '/v1/databases/defaults/search', {
    search: { text: 'tall tower', lexical: 0 },
    pagination: { limit: 20 },
  });
  const meaning = alone.body.results.map(({ id }: { id: number }) => `#${id}`);
  expect(meaning).not.toEqual(shown);
  await expect.poll(() => page.locator('.card .id').allTextContents()).toEqual(meaning);
});

test.inFull('an explanation stays with its record when the order changes', async ({ open, service }) => {
  const idsOf = async (lexical: number) => {
    const { body } = await service.call('POST', '/v1/databases/words/search', {
      search: { text: 'a river in Africa', ...(lexical > 0 && { lexical, prefix: true }) },
      pagination: { limit: 20 },
    });
    return body.results.map(({ id }: { id: number }) => id) as number[];
  };
  const [before, after] = [await idsOf(0), await idsOf(0.3)];
  const moved = before.find((id, at) => after.includes(id) && after.indexOf(id) !== at) ?? 0;
  const tab = await open({ database: 'words', text: 'a river in Africa' });
  const { page } = tab;
  await tab.status(/matches ·/);
  const explained = page.locator('.card').filter({ has: page.locator('.explanation') });
  await page.locator('.card').nth(before.indexOf(moved)).getByRole('button', { name: 'Explain' }).click();
  expect(await explained.locator('.id').allTextContents()).toEqual([`#${moved}`]);
  await page.getByRole('slider', { name: 'Exact words' }).fill('0.3');
  const ids = page.locator('.card .id');
  await expect.poll(() => ids.allTextContents()).toEqual(after.map((id) => `#${id}`));
  expect(await explained.locator('.id').allTextContents()).toEqual([`#${moved}`]);
});

test.inFull('the number of matches stays until that of the next text is known', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower' });
  const { page } = tab;
  const line = await tab.status(/^\d+ matches ·/);
  await page.route('**/search', () => undefined);
  const requested = page.waitForRequest((request) => request.postData()?.includes('a lake') ?? false);
  await page.getByRole('searchbox').fill('a lake');
  await requested;
  expect(await page.getByRole('status').textContent()).toBe(line);
});

test.inFull('a database without a model is listed, whatever was searched for before', async ({ open }) => {
  const tab = await open({ database: 'fan', text: 'tower' });
  const { page } = tab;
  await tab.status(/^90 records/);
  const search = page.getByRole('searchbox', { name: 'Search' });
  expect(await search.isDisabled()).toBe(true);
  expect(await search.inputValue()).toBe('');
  await page.getByRole('combobox', { name: 'Database' }).selectOption('facts');
  await tab.status(/^\d+ matches/);
  expect(await search.inputValue()).toBe('tower');
});
