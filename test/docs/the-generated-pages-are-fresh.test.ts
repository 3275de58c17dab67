import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generatedPages } from '../../scripts/docs/sections.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('the generated sections of docs/reference are what npm run generate:docs writes', async () => {
  const pages = await generatedPages(root);
  expect(pages.length).toBeGreaterThan(5);
  for (const { path, current, text } of pages) expect(current, `${path}: npm run generate:docs`).toBe(text);
});
