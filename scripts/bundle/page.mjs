import { bundle } from './bundle.mjs';

/**
 * Writes the modules of the page that are made from `src`: the readers of the import, which the page loads when it imports a
 * file.
 */
export async function buildPageModules() {
  await bundle('src/readers/in-browser.ts', 'dist/page/lazy/import.js', {
    format: 'esm',
    platform: 'browser',
    minify: true,
  });
}
