// npm run screenshots: takes the pictures of the page in docs/images, with the demo facts. Needs a build, and Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const QUALITY = 0.86;
/** The number of matches, the histogram, the facets and the map follow the results after a pause. */
const PAUSE_MS = 2_000;
const PRODUCTS = `sku,title,price,in_stock,notes
A-1,Rain jacket,59.5,true,"warm, waterproof"
A-2,Sun hat,12,false,wide brim
A-3,Tent,"19,9",true
A-4,Camp stove,33,true,gas
`;
const FILTER = {
  condition: 'AND',
  rules: [
    { column: 'height_m', operator: 'greater_than', value: 200 },
    {
      condition: 'OR',
      rules: [
        { column: 'world_heritage', operator: 'equals', value: true },
        { column: 'year', operator: 'greater_than', value: 1900 },
      ],
    },
  ],
};

/** What each picture shows: the state of the address, and what is done in it. */
const PICTURES = [
  {
    name: 'page',
    colorScheme: 'light',
    height: 800,
    state: { text: 'tall tower with a view', filter: JSON.stringify(FILTER) },
    async prepare(page) {
      // The model has been loaded for the first search, which took longer than any other.
      await page.getByRole('searchbox').fill('tall tower with a view over a city');
      await page.waitForTimeout(PAUSE_MS);
      await page.getByRole('button', { name: 'Explain' }).nth(1).click();
    },
  },
  {
    name: 'page-map',
    colorScheme: 'dark',
    height: 800,
    state: { map: 'shown', colour: 'kind' },
    async prepare(page) {
      const map = page.getByRole('application', { name: /Map of \d+ records/ });
      await map.focus();
      for (const key of ['Home', ...Array(5).fill('ArrowLeft')]) await page.keyboard.press(key);
    },
  },
  {
    name: 'page-import',
    colorScheme: 'dark',
    height: 640,
    state: {},
    async prepare(page) {
      await page.getByRole('button', { name: 'Import' }).click();
      const buffer = Buffer.from(PRODUCTS);
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'products.csv', mimeType: 'text/csv', buffer });
      await page.getByRole('group', { name: 'First rows' }).waitFor();
    },
  },
];

const data = mkdtempSync(join(tmpdir(), 'cosift-screenshots-'));
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const server = spawn(
  process.execPath,
  [main, 'serve', '--demo', '--port', '0', '--data', data, '--log-level', 'warn'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const url = await listening();
  const key = readFileSync(join(data, 'admin.key'), 'utf8').trim();
  for (const picture of PICTURES) {
    const image = await take(
      picture,
      `${url}/#${new URLSearchParams({ database: 'demo', ...picture.state, key })}`,
    );
    writeFileSync(new URL(`../docs/images/${picture.name}.webp`, import.meta.url), image);
    console.log(`${picture.name}.webp: ${image.length} bytes`);
  }
} finally {
  await browser.close();
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  rmSync(data, { recursive: true });
}

/** The address of the service, once it is ready. */
async function listening() {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /^listening on (\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the service did not start');
}

async function take({ colorScheme, height, prepare }, address) {
  const context = await browser.newContext({ viewport: { width: 1240, height }, colorScheme });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('list', { name: 'Results' }).waitFor();
  await page.waitForTimeout(PAUSE_MS);
  await prepare(page);
  await page.waitForTimeout(PAUSE_MS);
  const image = await webpOf(await page.screenshot());
  await context.close();
  return image;
}

/** A picture in a fourth of the bytes. */
async function webpOf(png) {
  const page = await browser.newPage();
  const address = await page.evaluate(
    async ([data, quality]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext('2d').drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality });
      const reader = new FileReader();
      reader.readAsDataURL(blob);
      await new Promise((resolve) => {
        reader.onload = resolve;
      });
      return reader.result;
    },
    [png.toString('base64'), QUALITY],
  );
  await page.close();
  return Buffer.from(address.split(',')[1], 'base64');
}
