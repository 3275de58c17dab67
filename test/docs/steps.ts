import { NO_MARIADB } from '../../scripts/mariadb/server.js';
import { NO_SERVER } from '../../scripts/postgres/server.js';
import { type Block, blocksOf, SampleError } from './blocks.js';
import { PYTHON_WITH_PACKAGES, pathOf } from './installation.js';
import { problemsOf } from './well-formed.js';

/** A block, and the block that shows what it prints. */
export interface Part {
  block: Block;
  output?: Block;
}

/** What a page does, in order. */
export type Step =
  | ({ kind: 'shell' | 'server' | 'python' } & Part)
  | { kind: 'file'; block: Block }
  | { kind: 'program'; parts: Part[] };

export interface Page {
  name: string;
  markdown: string;
  steps: Step[];
  /** Blocks that are not run, each with its reason. */
  skipped: Block[];
}

const PROGRAMS = ['js', 'cjs', 'ts'];
const SERVER = /^\s*(?:[A-Z_]+=\S+ )*(?:(?:npx )?cosift serve\b|npm start\b)/m;
const BEGINS_PROGRAM = /^(?:\/\/.*\n|\s)*(?:import\b|(?:const|let) .* = require\()/;

/**
 * Returns what a page does.
 *
 * @throws {SampleError} for a block that is not well formed, and for one that belongs to nothing before it.
 */
export function pageOf(name: string, markdown: string): Page {
  const page: Page = { name, markdown, steps: [], skipped: [] };
  let isSkipped = false;
  const blocks = blocksOf(name, markdown);
  const problems = problemsOf(blocks);
  for (const block of blocks) {
    const problem = problems.get(block);
    if (problem) throw new SampleError(block, problem);
    if (block.generated) continue;
    const notRun = block.notRun ?? reasonToSkip(block);
    // The output of a program that is skipped is skipped with it.
    isSkipped = notRun !== undefined || (isSkipped && block.output);
    if (notRun !== undefined) page.skipped.push({ ...block, notRun });
    else if (isSkipped) continue;
    else if (block.output) addOutput(page.steps, block);
    else if (block.file) page.steps.push({ kind: 'file', block });
    else if (block.language === 'sh') {
      const isServer = block.server || SERVER.test(block.text);
      if (isServer) checkServer(block);
      page.steps.push({ kind: isServer ? 'server' : 'shell', block });
    } else if (block.language === 'python') page.steps.push({ kind: 'python', block });
    else if (PROGRAMS.includes(block.language)) addProgram(page.steps, block);
  }
  checkFiles(page.steps);
  for (const step of page.steps) {
    if (step.kind === 'shell' && step.block.fails && !step.output) {
      throw new SampleError(step.block, 'a block that fails needs its output');
    }
  }
  return page;
}

/** Returns why a block cannot run here: it needs Python, PostgreSQL, MySQL or SQLite. */
function reasonToSkip({ language, text }: Block): string | undefined {
  if (language === 'sh' && usesPostgres(text)) return NO_SERVER;
  if (language === 'sh' && usesMysql(text)) return NO_MARIADB;
  // What is synced there is a file that it makes.
  if (language === 'sh' && /\bsqlite3\b|\bcosift sync\b/.test(text) && !pathOf('sqlite3'))
    return 'no program sqlite3';
  if (language !== 'python') return undefined;
  if (!pathOf('python3')) return 'Python is not installed';
  if (PYTHON_WITH_PACKAGES !== undefined || !/^(?:from|import) (?:langchain_)?cosift\b/m.test(text))
    return undefined;
  return 'the Python packages of the checkout are not installed';
}

/** Returns whether a block asks the PostgreSQL server of its page. */
export const usesPostgres = (text: string) => /\$DATABASE_URL\b/.test(text);

/** Returns whether a block asks the MySQL server of its page. */
export const usesMysql = (text: string) => /\$MYSQL_(HOST|DATABASE)\b/.test(text);

/** Checks that the server is the last command of its block: it does not end, so a later command would not be run. */
function checkServer(block: Block): void {
  const commands = block.text.replaceAll(/\\\n/g, ' ').trimEnd().split('\n');
  const server = block.server ? 0 : commands.findIndex((command) => SERVER.test(command));
  const isLast = commands.slice(server + 1).every((command) => /^\s*(#.*)?$/.test(command));
  if (!isLast) throw new SampleError(block, 'the server must be the last command of its block');
}

function addOutput(steps: Step[], block: Block): void {
  const last = steps.at(-1);
  const source: Part | undefined =
    last?.kind === 'program' ? last.parts.at(-1) : last?.kind === 'file' ? undefined : last;
  if (!source || source.output) {
    throw new SampleError(block, 'shows an output, but no block before it prints one');
  }
  if (/^[\s…]*$/.test(block.text)) throw new SampleError(block, 'shows nothing of the output');
  source.output = block;
}

function addProgram(steps: Step[], block: Block): void {
  const last = steps.at(-1);
  if (BEGINS_PROGRAM.test(block.text)) steps.push({ kind: 'program', parts: [{ block }] });
  else if (last?.kind === 'program' && last.parts[0]?.block.language === block.language) {
    last.parts.push({ block });
  } else throw new SampleError(block, `continues no program in ${block.language}: it needs an import`);
}

/** Checks that a later block runs each program that is written to a file. */
function checkFiles(steps: readonly Step[]): void {
  for (const [at, step] of steps.entries()) {
    if (step.kind !== 'file') continue;
    const { block } = step;
    if (![...PROGRAMS, 'python', 'sh'].includes(block.language)) continue;
    const uses = (other: Step) =>
      (other.kind === 'shell' || other.kind === 'server') && other.block.text.includes(block.file ?? '');
    if (!steps.slice(at).some(uses)) throw new SampleError(block, `no block runs ${block.file}`);
  }
}

/** Returns the text of a program: each line of its blocks at its line of the page, with a mark before each block. */
export function sourceOf(parts: readonly { block: Block }[], mark: (line: number) => string): string {
  const lines: string[] = [];
  for (const { block } of parts) {
    while (lines.length < block.line - 1) lines.push('');
    lines.push(mark(block.line), ...block.text.trimEnd().split('\n'));
  }
  return `${lines.join('\n')}\n`;
}
