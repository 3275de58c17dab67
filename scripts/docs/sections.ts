import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from './commands.js';
import { errorCodes, problemCodes } from './errors.js';
import { library } from './library/index.js';
import { metrics, processMetrics } from './metrics.js';
import { routes } from './routes.js';
import { limits, settings } from './settings.js';

/** A part of a page that is made from the sources. It stands between two marks, which name it. */
interface Section {
  page: string;
  name: string;
  make: () => string | Promise<string>;
}

export const SECTIONS: readonly Section[] = [
  { page: 'library.md', name: 'library', make: library },
  { page: 'cli.md', name: 'commands', make: commands },
  { page: 'settings.md', name: 'settings', make: settings },
  { page: 'limits.md', name: 'limits', make: limits },
  { page: 'errors.md', name: 'error codes', make: errorCodes },
  { page: 'errors.md', name: 'problem codes', make: problemCodes },
  { page: 'metrics.md', name: 'metrics', make: metrics },
  { page: 'metrics.md', name: 'process metrics', make: processMetrics },
  { page: 'http.md', name: 'routes', make: routes },
];

/** Pages with generated sections, with the text that they should have. */
export async function generatedPages(
  root: string,
): Promise<{ path: string; current: string; text: string }[]> {
  const pages = new Map<string, { path: string; current: string; text: string }>();
  for (const { page, name, make } of SECTIONS) {
    const path = `docs/reference/${page}`;
    const current = readFileSync(join(root, path), 'utf8');
    const entry = pages.get(page) ?? { path, current, text: current };
    entry.text = withSection(entry.text, path, name, await make());
    pages.set(page, entry);
  }
  return [...pages.values()];
}

/** Writes the generated sections into the pages. */
export async function generate(root: string): Promise<void> {
  for (const { path, text } of await generatedPages(root)) writeFileSync(join(root, path), text);
}

function withSection(text: string, path: string, name: string, section: string): string {
  const first = `<!-- ${name}: made by npm run generate:docs -->`;
  const last = `<!-- end of ${name} -->`;
  const from = text.indexOf(first);
  const to = text.indexOf(last);
  if (from < 0 || to < from) throw new Error(`${path} lacks the lines "${first}" and "${last}"`);
  return `${text.slice(0, from + first.length)}\n\n${section}\n\n${text.slice(to)}`;
}
