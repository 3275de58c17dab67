// An empty project of a user: installs packages, and runs the programs next to this file in it.
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './commands.mjs';

const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url));

export class Project {
  /** `npmFile` is npm's command line, and `nodeFile` the binary that runs it and the programs. */
  constructor(directory, { npmFile, nodeFile }) {
    mkdirSync(directory, { recursive: true });
    cpSync(PROGRAMS, directory, { recursive: true });
    this.directory = directory;
    this.bin = join(directory, 'node_modules/.bin');
    this.npmFile = npmFile;
    this.nodeFile = nodeFile;
    // Without it, package managers look for a project in the directories above.
    this.write('package.json', JSON.stringify({ private: true }));
  }

  write(file, content) {
    writeFileSync(join(this.directory, file), content);
  }

  node(...args) {
    return run(this.nodeFile, args, { cwd: this.directory, node: this.nodeFile });
  }

  npm(...args) {
    return this.node(this.npmFile, ...args);
  }

  npx(...args) {
    return this.node(join(this.npmFile, '../npx-cli.js'), ...args);
  }

  /** The packages that are installed, from the lockfile: `path` to what npm says about it. */
  installed() {
    const lock = JSON.parse(readFileSync(join(this.directory, 'package-lock.json'), 'utf8'));
    return Object.entries(lock.packages).filter(([path]) => path !== '');
  }

  /** The size of node_modules on the disk in bytes, as du counts it. */
  size() {
    const modules = join(this.directory, 'node_modules');
    const entries = readdirSync(modules, { recursive: true });
    return entries.reduce((sum, name) => sum + lstatSync(join(modules, name)).blocks * 512, 0);
  }
}
