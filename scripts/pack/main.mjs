// npm run pack -- --output DIR: brings the checkout up to date, and writes the tarballs of all packages for this platform.
//
//   --all-platforms   the packages of every platform, with the engines in native/, which are not built
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, setup } from '../setup.mjs';

const { values } = parseArgs({
  options: { output: { type: 'string' }, 'all-platforms': { type: 'boolean', default: false } },
});
if (values.output === undefined) fail('say where the tarballs go: npm run pack -- --output DIR');
const allPlatforms = values['all-platforms'];
setup({ native: !allPlatforms });
// Only now, because it imports packages that the setup installs.
const { writeTarballs } = await import('./tarballs.mjs');
// npm runs scripts in the root of the checkout, and says where it was called.
await writeTarballs(resolve(process.env.INIT_CWD ?? '.', values.output), { allPlatforms });
