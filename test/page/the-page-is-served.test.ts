import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vendoredFiles } from '../../scripts/vendor.mjs';
import { readPageFiles } from '../../src/server/page/page-files.js';
import { exchange } from '../server/exchange.js';
import { Service } from '../server/service.js';

const MAX_BYTES = 150_000;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const paths = (html: string) => [...html.matchAll(/(?:href|src)="(page\/[^"]+)"/g)].map(([, path]) => path);

test('the page names its files with their version, and browsers keep them', async () => {
  const index = await exchange(service, 'GET', '/');
  expect([index.status, index.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(index.headers['cache-control']).toBe('no-cache');
  const files = paths(index.bytes.toString());
  expect(files.length).toBeGreaterThan(20);
  for (const path of files) {
    const { status, headers } = await exchange(service, 'GET', `/${path}`, { 'accept-encoding': 'br' });
    expect([path, status]).toEqual([path, 200]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toMatch(/^(text\/(css|javascript)|image\/svg\+xml); charset=utf-8$/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    const again = await exchange(service, 'GET', `/${path}`, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  }
  const [file = ''] = files;
  expect((await exchange(service, 'GET', `/${file.replace(/page\/[^/]+/, 'page/other')}`)).status).toBe(404);
  expect((await exchange(service, 'GET', `/${file}x`)).status).toBe(404);
  expect((await exchange(service, 'GET', '/page/x/../../package.json')).status).toBe(404);
});

test('the policy of the page allows no inline script or style, and no other host', async () => {
  const { headers } = await exchange(service, 'GET', '/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  for (const directive of ['script-src', 'style-src', 'connect-src', 'img-src']) {
    expect(policy).toContain(`${directive} 'self'`);
  }
});

test(`all files together are at most ${MAX_BYTES} bytes when they are compressed`, () => {
  const { index, files } = readPageFiles();
  // The coding of the service that compresses least.
  const level = constants.Z_BEST_SPEED;
  const sizes = [index, ...files.values()].map(({ bytes }) => gzipSync(bytes, { level }).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThan(MAX_BYTES);
});

test('the libraries of the page are those of the npm packages', () => {
  const { files } = readPageFiles();
  const vendored = [...files].filter(([name]) => name.startsWith('vendor/'));
  expect(
    Object.fromEntries(vendored.map(([name, { bytes }]) => [name.slice('vendor/'.length), String(bytes)])),
  ).toEqual(vendoredFiles());
});

test('without the page, its paths do not exist', async () => {
  const without = await Service.start({ page: false });
  const file = paths((await exchange(service, 'GET', '/')).bytes.toString())[0];
  for (const path of ['/', `/${file}`]) {
    const { status, bytes } = await exchange(without, 'GET', path);
    expect([status, JSON.parse(bytes.toString()).code]).toEqual([404, 'not_found']);
  }
  expect((await exchange(without, 'GET', '/docs')).status).toBe(200);
  await without.stop();
});
