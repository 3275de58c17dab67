// Checks of blocks that are not run: each returns what is wrong, or undefined.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse as parseCsv } from 'csv-parse/sync';
import { loadAll } from 'js-yaml';
import { commandsBelow } from '../../scripts/docs/commands.js';
import { makeProgram } from '../../src/cli/program.js';
import type { Block } from './blocks.js';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const CHECKS: Record<string, (text: string) => unknown> = {
  json: (text) => JSON.parse(text),
  ndjson: (text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  yaml: (text) => loadAll(text),
  csv: (text) => parseCsv(text),
  nginx: checkNginx,
  dockerfile: (text) =>
    checkLines(text, /^(ARG|CMD|COPY|ENTRYPOINT|ENV|EXPOSE|FROM|HEALTHCHECK|RUN|USER|VOLUME|WORKDIR) \S/),
  ini: (text) => checkLines(text, /^(\[[^\]]+\]|[\w.-]+ ?=.*)$/),
  toml: (text) => checkLines(text, /^(\[\[?[\w.-]+\]\]?|[\w."-]+ = .+)$/),
};

/** Returns why each block that is not well formed is not. */
export function problemsOf(blocks: readonly Block[]): Map<Block, string> {
  const shell = blocks.filter(({ language }) => language === 'sh');
  const errors = syntaxErrorsOf(shell);
  const syntax = new Map(shell.map((block, at) => [block, errors[at] ?? '']));
  const problems = blocks.map((block) => [block, problemOf(block, syntax.get(block) ?? '')] as const);
  return new Map(problems.filter((problem): problem is [Block, string] => problem[1] !== undefined));
}

/** The syntax errors of blocks. One process starts those that look for them, because this one is larger and takes longer. */
function syntaxErrorsOf(blocks: readonly Block[]): string[] {
  const each = 'for text; do bash -n <<< "$text" 2>&1; printf "\\0"; done';
  const { stdout } = spawnSync('bash', ['-c', each, 'bash', ...blocks.map(({ text }) => text)], {
    encoding: 'utf8',
  });
  return stdout.split('\0');
}

function problemOf({ language, text, fails }: Block, syntax: string): string | undefined {
  try {
    if (syntax !== '') throw new Error(syntax);
    if (language === 'sh') checkShell(text, fails);
    CHECKS[language]?.(text);
    return undefined;
  } catch (error) {
    return `is not well formed: ${(error as Error).message}`;
  }
}

/** Checks the scripts of `npm run`, and the options of `cosift`, unless they are a mistake to be shown. */
function checkShell(text: string, fails: boolean): void {
  for (const [, script = ''] of text.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)) {
    if (!(script in manifest.scripts)) throw new Error(`package.json has no script ${script}`);
  }
  if (fails) return;
  for (const [, line = ''] of text.replaceAll(/\\\n/g, ' ').matchAll(/^(?:npx )?cosift (.*)$/gm)) {
    // Another command of the line is not checked.
    const [own = ''] = /^(?:"[^"]*"|'[^']*'|[^'"|<>;&])*/.exec(line) ?? [];
    checkOptions(own.match(/(?:"[^"]*"|'[^']*'|[^\s'"])+/g) ?? []);
  }
}

/** Parses the arguments of `cosift` without doing what they say. */
function checkOptions(args: readonly string[]): void {
  const program = makeProgram();
  for (const command of commandsBelow(program)) {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    if (command.commands.length === 0) command.action(() => undefined);
  }
  try {
    program.parse(
      args.map((arg) => arg.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2')),
      { from: 'user' },
    );
  } catch (error) {
    const { code } = error as { code?: string };
    if (!code?.startsWith('commander.help') && code !== 'commander.version') throw error;
  }
}

/** Checks that braces match and that every directive ends with a semicolon or opens a block. */
function checkNginx(text: string): void {
  let depth = 0;
  for (const line of contentOf(text)) {
    if (!/[;{}]$/.test(line)) throw new Error(`"${line}" does not end with ; or a brace`);
    depth += (line.match(/\{/g)?.length ?? 0) - (line.match(/\}/g)?.length ?? 0);
    if (depth < 0) throw new Error('a brace is closed that was not opened');
  }
  if (depth !== 0) throw new Error('a brace is not closed');
}

function checkLines(text: string, allowed: RegExp): void {
  for (const line of contentOf(text)) if (!allowed.test(line)) throw new Error(`"${line}"`);
}

/** Returns the lines without comments, continued lines joined. */
function contentOf(text: string): string[] {
  return text
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}
