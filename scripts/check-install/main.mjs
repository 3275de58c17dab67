// npm run check:install: installs the tarballs of all packages in empty projects, and uses them there.
//
//   --packages DIR   checks these tarballs; default: packs a fresh clone of HEAD
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { finish } from './checks.mjs';
import { packClone } from './clone.mjs';
import { run } from './commands.mjs';
import { installByName, installTarballs } from './installs.mjs';
import { checkTarballs, unpack } from './tarballs.mjs';

const { values } = parseArgs({ options: { packages: { type: 'string' } } });
const directory = mkdtempSync(join(tmpdir(), 'cosift-install-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const npmFile =
  process.env.npm_execpath ??
  join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js');
const npm = (args, options) => run(process.execPath, [npmFile, ...args], options);

const packed =
  values.packages === undefined
    ? await packClone(directory, npm)
    : resolve(process.env.INIT_CWD ?? '.', values.packages);
const tarballs = unpack(packed, join(directory, 'unpacked'));
const installation = { directory, tarballs, npmFile, npm };
await Promise.all([checkTarballs(tarballs), installTarballs(installation), installByName(installation)]);
finish();
