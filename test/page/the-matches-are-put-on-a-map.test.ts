import { expect } from 'vitest';
import { inBrowser, type Tab } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser(async (service) => {
  await storeFacts(service, 'facts');
  await service.call('PUT', '/v1/databases/empty', {});
  await service.call('PUT', '/v1/databases/line', { dimensions: 1 });
  const records = [1, 2].map((id) => ({ id, data: { name: `no ${id}` }, vector: [1] }));
  await service.call('POST', '/v1/databases/line/records', { records });
});

const pictureOf = ({ page }: Tab) => page.getByRole('application', { name: /^Map of/ });
const pointOf = ({ page }: Tab) => page.locator('#map-point');

/** The number of pixels of each colour that is drawn. */
const drawn = (tab: Tab) =>
  // biome-ignore lint/suspicious/noExplicitAny: the types of the browser are not those of the tests
  pictureOf(tab).evaluate((canvas: any) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const colours = new Set<string>();
    let pixels = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] === 0) continue;
      pixels += 1;
      if (Number(data[at + 3]) > 200) colours.add(data.slice(at, at + 3).join());
    }
    return { pixels, colours: colours.size };
  });

test('every match is a point, coloured by the score or by a column', async ({ open, service }) => {
  const tab = await open({ database: 'facts', text: 'tall tower' });
  const { page } = tab;
  await tab.status(/matches/);
  expect(await page.getByRole('region', { name: 'Map' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Map' }).click();
  const { body } = await service.call('POST', '/v1/databases/facts/map', {
    search: { text: 'tall tower', threshold: 0.2 },
    columns: ['kind'],
  });
  await page.getByRole('application', { name: `Map of ${body.points.length} records.` }).waitFor();
  await expect.poll(async () => (await drawn(tab)).pixels).toBeGreaterThan(500);
  const legend = page.getByRole('list', { name: 'Colours' });
  const scores = body.points.map((point: { relevance_score: number }) => point.relevance_score);
  expect(await legend.textContent()).toContain(String(Number(Math.max(...scores).toFixed(4))));
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('kind');
  const kinds = body.points.map(({ data }: { data: { kind: string } }) => data.kind);
  await legend.getByText(kinds[0], { exact: true }).waitFor();
  const counts = await legend.locator('li').allTextContents();
  const numbers = counts.map((text) => Number(/(\d+)\s*$/.exec(text)?.[1]));
  expect(numbers.reduce((sum, number) => sum + number)).toBe(kinds.length);
  expect((await drawn(tab)).colours).toBeGreaterThan(2);
  // The picture is a part of the query.
  await expect.poll(() => page.url()).toContain('map=shown&colour=kind');
  await page.reload();
  await legend.getByText(kinds[0], { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Map' }).click();
  expect(await page.getByRole('region', { name: 'Map' }).count()).toBe(0);
});

test('a pointer finds the record of a point, and a click shows it', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower', map: 'shown' });
  const { page } = tab;
  await page.getByRole('list', { name: 'Colours' }).waitFor();
  const box = await pictureOf(tab).boundingBox();
  if (box === null) throw new Error('the picture is not shown');
  // Somewhere on the way across there is a point.
  for (let step = 0; step <= 60 && (await pointOf(tab).textContent()) === ''; step += 1) {
    await page.mouse.move(box.x + (box.width * step) / 60, box.y + box.height / 2);
  }
  const text = (await pointOf(tab).textContent()) ?? '';
  expect(text).toMatch(/ · score 0\.\d{3}$/);
  await page.mouse.down();
  await page.mouse.up();
  const [name = ''] = text.split(' · ');
  await expect.poll(() => page.locator('li.card:focus').textContent()).toContain(name);
});

test.inFull('the keyboard moves between the points, and Enter shows the record', async ({ open }) => {
  const tab = await open({ database: 'facts', text: 'tall tower', map: 'shown' });
  const { page } = tab;
  await page.getByRole('list', { name: 'Colours' }).waitFor();
  const picture = pictureOf(tab);
  await picture.focus();
  await page.keyboard.press('Home');
  expect(await pointOf(tab).textContent()).toContain('Skytree');
  await page.keyboard.press('Enter');
  expect(await page.locator('li.card:focus').textContent()).toContain('Skytree');
  expect(await page.getByRole('region', { name: 'Selected on the map' }).count()).toBe(0);
  const seen = new Set<string | null>();
  await picture.focus();
  for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageDown', 'PageUp']) {
    await page.keyboard.press(key);
    seen.add(await pointOf(tab).textContent());
  }
  expect(seen.size).toBeGreaterThan(1);
  // The last match is on no page so far.
  await page.keyboard.press('End');
  const [name = ''] = ((await pointOf(tab).textContent()) ?? '').split(' · ');
  await page.keyboard.press('Enter');
  const selected = page.getByRole('region', { name: 'Selected on the map' });
  await selected.getByText(name).first().waitFor();
  await tab.checkAccessibility('a selected record');
  await selected.getByRole('button', { name: 'Close' }).click();
  expect(await selected.count()).toBe(0);
});

test.inFull('a map of a listing, of equal vectors, and of nothing', async ({ open }) => {
  const tab = await open({ database: 'facts', map: 'shown' });
  await pictureOf(tab).waitFor();
  await tab.page.getByText('all 331 records with a vector').waitFor();
  const line = await open({ database: 'line', map: 'shown' });
  await line.page.getByRole('application', { name: 'Map of 2 records.' }).focus();
  await line.page.keyboard.press('Home');
  expect(await pointOf(line).textContent()).toBe('no 1');
  const empty = await open({ database: 'empty', map: 'shown' });
  await empty.page.getByText('no record with a vector').waitFor();
  await empty.checkAccessibility('a map without points');
});

test.inFull('a key that may not read records has no map', async ({ open, service }) => {
  const request = { name: 'limited', actions: ['search'], databases: ['facts'] };
  const { body } = await service.call('POST', '/v1/keys', request);
  const tab = await open({ text: 'tall tower', map: 'shown' }, { key: body.key });
  await tab.status(/matches/);
  expect(await tab.page.getByRole('button', { name: 'Map' }).count()).toBe(0);
  expect(tab.requests.filter((url) => url.endsWith('/map'))).toEqual([]);
  const own = { 'x-api-key': body.key };
  expect((await service.call('POST', '/v1/databases/facts/map', {}, own)).status).toBe(403);
});
