// Checks that every relative link in Markdown leads to a file, and its #anchor to a heading.
//
//   node scripts/check-links.mjs [DIR]     the pages in DIR; default: those of the repository
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root as repository } from './setup.mjs';

const [root = repository] = process.argv.slice(2);
const names =
  root === repository
    ? execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
    : readdirSync(root, { recursive: true, encoding: 'utf8' });
const pages = names.filter((name) => name.endsWith('.md'));

const withoutCode = (text) =>
  text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]]/g, ''));

/** A heading's anchor as GitHub makes it. */
const anchorOf = (heading) =>
  heading
    .replace(/[`*]/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const anchorsOf = (page) =>
  readFileSync(join(root, page), 'utf8')
    .replace(/```[\s\S]*?```/g, '')
    .split('\n')
    .filter((line) => /^#{1,6} /.test(line))
    .map((line) => anchorOf(line.replace(/^#+ /, '')));

const broken = [];
let links = 0;
for (const page of pages) {
  for (const [, link] of withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    links += 1;
    const [file, anchor] = link.split('#');
    const target = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)));
    if (!existsSync(join(root, target))) broken.push(`${page}: there is no ${target}`);
    else if (anchor && target.endsWith('.md') && !anchorsOf(target).includes(anchor)) {
      broken.push(`${page}: ${target} has no heading #${anchor}`);
    }
  }
}
for (const line of broken) console.error(line);
console.log(`${links} links in ${pages.length} pages, ${broken.length} broken`);
process.exitCode = broken.length > 0 ? 1 : 0;
