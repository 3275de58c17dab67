// Part of npm run lint: fails on an import that points upward in scripts/imports/rooms.mjs, and on every circle of
// imports among files or folders.
//
//   node scripts/check-imports.mjs [ROOT]     ROOT: the checkout, default this one
import { fileURLToPath } from 'node:url';
import { faultsOf } from './imports/faults.mjs';
import { readImports } from './imports/read.mjs';
import * as rooms from './imports/rooms.mjs';

const [root = fileURLToPath(new URL('../', import.meta.url))] = process.argv.slice(2);
const { files, imports } = readImports(root);
const faults = faultsOf(files, imports, rooms);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`Checked ${imports.length} imports of ${files.length} files.`);
