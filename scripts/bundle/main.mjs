// The second part of `npm run build:ts`: writes what `tsc` does not.
//
//   dist/**/*.cjs          the library and the client for `require`
//   packages/client/dist   what the package @cosift/client publishes
import { buildClientPackage } from './client-package.mjs';
import { buildCommonJs } from './commonjs.mjs';

await buildCommonJs();
await buildClientPackage();
