import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateTypes } from '../../scripts/types/generate.js';

test('the committed types are those that the schemas give', () => {
  const files = generateTypes();
  expect([...files.keys()]).toContain('src/schema/types/filter.ts');
  for (const [path, text] of files) {
    const committed = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    expect(committed, `${path}: run \`npm run generate:types\``).toBe(text);
  }
});
