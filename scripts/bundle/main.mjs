// The second part of `npm run build:ts`: bundles the JavaScript of the packages. `tsc` writes only their declarations.
//
//   dist/**/*.js           the modules of the library and of the command line
//   dist/**/*.cjs          the library, the client and the objects for the AI SDK for `require`
//   packages/*/dist        what the packages @cosift/client and @cosift/langchain publish
//   dist/page              the readers of files, which the page loads when it imports one
import { bundle } from './bundle.mjs';
import { buildCommonJs } from './commonjs.mjs';
import { buildModules } from './modules.mjs';
import { buildPackage } from './package.mjs';

await buildModules();
await buildCommonJs();
await buildPackage('client');
await buildPackage('langchain', ['@langchain/core/*']);
await bundle('src/readers/in-browser.ts', 'dist/page/lazy/import.js', {
  format: 'esm',
  platform: 'browser',
  minify: true,
});
