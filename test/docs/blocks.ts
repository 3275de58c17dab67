// The fenced blocks of a page of the documentation, and what their info strings say.
//
// Every block of README.md, CONTRIBUTING.md, docs/, models/README.md and bench/README.md is run or checked, in the order
// of the page, in an empty directory where `cosift` is installed. A block begins with its language:
//
//   sh         runs with `bash -euo pipefail`; variables and the working directory are those of the earlier blocks. curl
//              fails for a response with an error status. A block with `cosift serve` or `npm start` continues to run
//              until the page ends or another one is started. Port 8080 is replaced by a free port. $DATABASE_URL is that
//              of a PostgreSQL server with pgvector, where one is installed; otherwise a block with it is not run. In the same way,
//              $MYSQL_HOST and $MYSQL_DATABASE are those of a MariaDB server, to which `mysql` sends statements.
//   js cjs ts  a program. A block that begins with `import` or `require` begins a program; the blocks that follow
//              without one continue it. Programs in TypeScript are also checked with `strict`. Comments such as in
//              `console.log(a); // 1` are compared with what it prints, unless a block with `output` follows.
//   python     runs, where Python is installed; with a Python package of the checkout, after test/python/environment.mjs.
//   json ndjson yaml toml nginx dockerfile ini csv
//              must be well formed.
//   text       needs `output`, `file=` or `not-run=`.
//
// After the language come, in any order:
//
//   output            the block is what the block before printed, and is compared with it (compare.ts); it is not only `…`
//   file=NAME         the block is written to this file; a program is then run by a later `sh` block
//   fails             the `sh` block must end with an error, which a block with `output` shows
//   server            the `sh` block is one command that starts a program, which prints `listening on …` and runs beside
//                     other servers until the page ends
//   stop-server       the servers of the page are stopped before the block runs
//   not-run="REASON"  the block is not run here, and is listed as skipped with this reason; options of `cosift` and scripts
//                     of `npm run` must exist nevertheless
//
// A block in an HTML comment runs, too: it makes a file that the reader already has.
//
// A block of a generated section is checked like one that is not run. Another test compares it with its source.
//
// No other code block is allowed, because it would not be run: a fence after a mark of a list or a quotation, an indented
// block outside of a list, `<pre>`, and marks of a generated section that no generator writes.

import { SECTIONS } from '../../scripts/docs/sections.js';

const LANGUAGES = ['sh', 'js', 'cjs', 'ts', 'python', 'json', 'ndjson', 'yaml', 'toml', 'nginx'].concat([
  'dockerfile',
  'ini',
  'csv',
  'text',
]);

/** A fenced block. */
export interface Block {
  page: string;
  /** Line of the opening fence, from 1. */
  line: number;
  language: string;
  text: string;
  output: boolean;
  fails: boolean;
  server: boolean;
  stopServer: boolean;
  file?: string | undefined;
  notRun?: string | undefined;
  /** Whether the block is in a section that `npm run generate:docs` writes. */
  generated: boolean;
}

/** A sample that is wrong, with its page and line. */
export class SampleError extends Error {
  constructor({ page, line }: { page: string; line: number }, problem: string) {
    super(`${page}:${line}: ${problem}`);
    this.name = 'SampleError';
  }
}

/**
 * Returns the blocks of a page in their order.
 *
 * @throws {SampleError} for a block without an end, an unknown language, an unknown attribute, and for code that would
 * not be run.
 */
export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  const sections = sectionsOf(page, markdown);
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1;
    const generated = sections.some(({ first, last }) => first < line && line < last);
    const [, indent = '', fence = '', info = ''] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(lines[at] ?? '') ?? [];
    if (fence === '') {
      const problem = generated ? undefined : hiddenCode(lines, at);
      if (problem) throw new SampleError({ page, line }, problem);
      continue;
    }
    const text: string[] = [];
    for (at += 1; lines[at]?.trim() !== fence; at++) {
      const content = lines[at];
      if (content === undefined) throw new SampleError({ page, line }, 'the block has no end');
      text.push(content.startsWith(indent) ? content.slice(indent.length) : content.trimStart());
    }
    const attributes = attributesOf({ page, line }, info.trim());
    const { language, output, file, notRun } = attributes;
    if (language === 'text' && !output && !file && !notRun && !generated) {
      throw new SampleError({ page, line }, 'a block of text needs output, file= or not-run=');
    }
    blocks.push({ page, line, text: `${text.join('\n')}\n`, generated, ...attributes });
  }
  return blocks;
}

/** The lines of the marks around each generated section of a page. */
function sectionsOf(page: string, markdown: string): { first: number; last: number }[] {
  const sections: { first: number; last: number }[] = [];
  let open: { name: string; line: number } | undefined;
  for (const [at, text] of markdown.split('\n').entries()) {
    const line = at + 1;
    const begun = /^\s*<!-- (.*): made by /.exec(text)?.[1];
    const ended = /^\s*<!-- end of (.*) -->/.exec(text)?.[1];
    if (begun !== undefined) {
      const isKnown = SECTIONS.some(
        ({ page: of, name }) => page === `docs/reference/${of}` && name === begun,
      );
      if (!isKnown || open) throw new SampleError({ page, line }, `nothing writes the section "${begun}"`);
      open = { name: begun, line };
    } else if (ended !== undefined) {
      if (ended !== open?.name)
        throw new SampleError({ page, line }, `the section "${ended}" has no beginning`);
      sections.push({ first: open.line, last: line });
      open = undefined;
    }
  }
  if (open) throw new SampleError({ page, line: open.line }, `the section "${open.name}" has no end`);
  return sections;
}

/** Returns why a line outside of blocks may show code that would not be run, or undefined. */
function hiddenCode(lines: readonly string[], at: number): string | undefined {
  const text = (lines[at] ?? '').replaceAll(/(?<!`)(`{1,2})(?!`).*?(?<!`)\1(?!`)/g, '');
  if (/`{3}|~{3}/.test(text)) return 'a block must begin with its fence';
  if (/<pre\b/i.test(text)) return 'a block must have a fence';
  if (!/^( {4}|\t)\s*\S/.test(text) || lines[at - 1]?.trim()) return undefined;
  const before = lines.slice(0, at).findLast((line) => /^\S/.test(line)) ?? '';
  return /^([-*+]|\d+[.)]) /.test(before) ? undefined : 'an indented block is not run';
}

type Attributes = Omit<Block, 'page' | 'line' | 'text' | 'generated'>;

function attributesOf(place: { page: string; line: number }, info: string): Attributes {
  const [language = '', ...words] = info.match(/[\w-]+=(?:"[^"]*"|\S+)|\S+/g) ?? [];
  if (!LANGUAGES.includes(language)) {
    throw new SampleError(place, `"${language}" is not one of the languages ${LANGUAGES.join(', ')}`);
  }
  const attributes: Attributes = { language, output: false, fails: false, server: false, stopServer: false };
  for (const word of words) {
    const [, name = word, value] = /^([\w-]+)=(.*)$/.exec(word) ?? [];
    const text = value?.replaceAll('"', '').trim();
    if (word === 'output') attributes.output = true;
    else if (word === 'fails' && language === 'sh') attributes.fails = true;
    else if (word === 'server' && language === 'sh') attributes.server = true;
    else if (word === 'stop-server') attributes.stopServer = true;
    else if (name === 'file' && text) attributes.file = text;
    else if (name === 'not-run' && text) attributes.notRun = text;
    else throw new SampleError(place, `unknown attribute ${word}`);
  }
  return attributes;
}
