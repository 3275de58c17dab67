// The second part of `npm run build:ts`: writes what `tsc` does not.
//
//   dist/**/*.cjs          the library, the client and the objects for the AI SDK for `require`
//   packages/*/dist        what the packages @cosift/client and @cosift/langchain publish
//   dist/mcp/sdk.js        the parts of the SDK of MCP that are used
//   dist/page              the readers of files, which the page loads when it imports one
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, root } from './bundle.mjs';
import { buildCommonJs } from './commonjs.mjs';
import { buildPackage } from './package.mjs';

await buildCommonJs();
await buildPackage('client');
await buildPackage('langchain', ['@langchain/core/*']);
await bundle('src/mcp/sdk.ts', 'dist/mcp/sdk.js', { format: 'esm', platform: 'node', minify: true });
rmSync(join(root, 'dist/mcp/sdk.js.map'), { force: true });
await bundle('src/readers/in-browser.ts', 'dist/page/lazy/import.js', {
  format: 'esm',
  platform: 'browser',
  minify: true,
});
