import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)/i;

/** The texts of the licences in the folder of a package; empty if it has none. */
export function licencesIn(directory) {
  const files = readdirSync(directory).filter((name) => LICENCE_FILE.test(name));
  return files
    .sort()
    .map((name) => readFileSync(join(directory, name), 'utf8').trim())
    .join('\n\n');
}

/** The names and licences of the packages that files of a bundle belong to. */
export function noticesOf(root, files) {
  const packages = files.map((file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const notices = [...new Set(packages)]
    .filter((path) => path !== undefined)
    .map((path) => {
      const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
      const { name, version, license, author, homepage } = manifest;
      if (license === undefined) throw new Error(`${path} names no licence`);
      // Some packages name their licence and contain no text.
      const named = [license, author?.name ?? author, homepage].filter(Boolean).join(', ');
      return `Includes parts of ${name} ${version}:\n\n${licencesIn(join(root, path)) || named}\n`;
    });
  // A version may be installed in several places.
  return [...new Set(notices)].sort();
}
