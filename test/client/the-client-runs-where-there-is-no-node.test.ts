import { readdirSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as client from '../../src/client/index.js';
import { fan, Service } from '../server/service.js';

const read = (file: string) =>
  readFileSync(new URL(`../../packages/client/dist/${file}`, import.meta.url), 'utf8');

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

/**
 * Runs the module in a context without Node: it has the language, what is listed here, and no way to compile text, as
 * under a strict content security policy.
 */
function inBrowser(): typeof client {
  const own = {
    AbortController,
    AbortSignal,
    URL,
    URLSearchParams,
    TextDecoder,
    TextEncoder,
    crypto,
    setTimeout,
    clearTimeout,
  };
  const context = vm.createContext({ ...own }, { codeGeneration: { strings: false, wasm: false } });
  // A browser refuses a `fetch` that is called as a method of anything but the window.
  context.fetch = function (this: unknown, input: string, init: RequestInit) {
    if (this !== undefined && this !== context) throw new TypeError('Illegal invocation');
    return fetch(input, init);
  };
  // A script cannot export.
  const script = read('index.js').replace(/^export \{([^}]*)\};$/m, 'globalThis.exported = {$1};');
  vm.runInContext(script, context);
  return context.exported;
}

test('nothing is imported, and no text is compiled', () => {
  for (const file of ['index.js', 'index.cjs']) {
    const code = read(file).replaceAll(/\/\*[\s\S]*?\*\//g, '');
    expect(code).not.toMatch(/\b(?:require|import)\s*\(|^import\b|\bfrom ['"]|\beval\b|new Function\b/m);
    expect(code).not.toMatch(/\b(?:Buffer|global|__dirname)\b/);
  }
});

test('the client writes, searches and reads, without Node and without compiling text', async () => {
  const { Client, CosiftError } = inBrowser();
  const browser = new Client({ url: service.url, key: service.adminKey });
  const fans = await browser.createDatabase('fans', { dimensions: 2 });
  await fans.upsert(fan(120));
  const found: number[] = [];
  for await (const { id } of fans.searchAll({ vector: [1, 0] }, { threshold: 0 })) found.push(id);
  expect(found).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
  expect((await fans.get(7))?.id).toBe(7);
  await expect(fans.search({ vector: [1] })).rejects.toBeInstanceOf(CosiftError);
  await expect(fans.query({ signal: AbortSignal.abort(new Error('no more')) })).rejects.toThrow('no more');
});

test('a stream of lines says what it needs', async () => {
  const { Client } = inBrowser();
  const lines = new Client({ url: service.url, key: service.adminKey }).database('fans').upsertLines(['{}']);
  const first = (async () => {
    for await (const _ of lines);
  })();
  await expect(first).rejects.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringMatching(/needs Node, Deno or Bun/),
  });
});

test('the client adds at most 18.1 kB to a page', async () => {
  const { code } = await transform(read('index.js'), { minify: true, format: 'esm', legalComments: 'none' });
  expect(gzipSync(code).length).toBeLessThan(18_100);
});

test('the package declares the types of the client, without the schemas of the service', () => {
  const files = readdirSync(new URL('../../packages/client/dist/types/schema/', import.meta.url));
  expect(files).not.toContain('components.d.ts');
  expect(files).not.toContain('index.d.ts');
});
