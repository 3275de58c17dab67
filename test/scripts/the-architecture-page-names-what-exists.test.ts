import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync('ARCHITECTURE.md', 'utf8');

test('every function and resource of the two ways is defined in the file that the page names', () => {
  const rows = [...page.matchAll(/^- `([\w.]+)`\s+\(`([^`]+)`\)/gm)];
  expect(rows.length).toBeGreaterThan(20);
  const missing = rows.filter(([, name = '', file = '']) => {
    const own = name.split('.').at(-1);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return !new RegExp(`(?:fn|function|async|async \\*|const) ?${own}\\b`).test(text);
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});

test('every path that the page names exists', () => {
  const paths = [...page.matchAll(/`((?:src|crates|scripts)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
