import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MariaDbServer } from '../../scripts/mariadb/server.js';
import { freePort } from '../../scripts/postgres/free-port.js';
import { PostgresServer } from '../../scripts/postgres/server.js';
import { type Block, SampleError } from './blocks.js';
import { compareJson, compareText } from './compare.js';
import { install, root } from './installation.js';
import { type Page, type Part, type Step, sourceOf, usesMysql, usesPostgres } from './steps.js';

const BLOCK_TIMEOUT_MS = 120_000;
const MARK = '\u001e';
const TSX = pathToFileURL(join(root, 'node_modules', 'tsx', 'dist', 'loader.mjs')).href;

interface Run {
  output: string;
  code: number | string | null;
}

/** Runs the steps of a page in a directory of its own. */
export class Scene {
  readonly #page: Page;
  readonly #directory: string;
  readonly #state: string;
  readonly #env: NodeJS.ProcessEnv;
  #ports = new Map<string, number>();
  #servers: { child: ChildProcess; ended: Promise<unknown> }[] = [];

  /** `directory` is empty; `commands` contains those of {@link install}. */
  constructor(page: Page, directory: string, commands: string) {
    this.#page = page;
    this.#directory = join(directory, 'page');
    this.#state = join(directory, 'state');
    mkdirSync(this.#directory, { recursive: true });
    install(this.#directory, commands);
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(COSIFT|VITEST|NODE|npm)_|^TEST$/.test(name),
    );
    this.#env = { ...Object.fromEntries(own), PATH: commands, NO_COLOR: '1' };
  }

  /** @throws {SampleError} for the first step that fails. */
  async run(): Promise<void> {
    await this.#choosePorts();
    const asks = (uses: (text: string) => boolean) =>
      this.#page.steps.some((step) => step.kind === 'shell' && uses(step.block.text));
    const postgres = asks(usesPostgres) ? await PostgresServer.start() : undefined;
    const mariadb = asks(usesMysql) ? await MariaDbServer.start('--skip-ssl') : undefined;
    try {
      if (postgres) this.#env.DATABASE_URL = await postgres.createDatabase();
      if (mariadb) {
        const { host, pathname } = new URL(await mariadb.createDatabase());
        this.#env.MYSQL_HOST = host;
        this.#env.MYSQL_DATABASE = pathname.slice(1);
      }
      for (const step of this.#page.steps) await this.#runStep(step);
    } finally {
      await this.#stopServers();
      await postgres?.stop();
      await mariadb?.stop();
    }
  }

  async #runStep(step: Step): Promise<void> {
    const block = step.kind === 'program' ? step.parts[0]!.block : step.block;
    if (block.stopServer) await this.#stopServers();
    if (step.kind === 'program') return this.#runProgram(step.parts);
    if (step.kind === 'file') {
      const path = join(this.#cwd(), block.file ?? '');
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, this.#withPorts(block.text));
      return;
    }
    if (step.kind === 'server') {
      this.#compare(step.output, await this.#startServer(block));
      return;
    }
    const text = this.#withPorts(block.text);
    const { output, code } =
      step.kind === 'python' ? await this.#spawn('python3', ['-c', text]) : await this.#bash(text);
    if ((code === 0) === block.fails) {
      throw new SampleError(block, `${block.fails ? 'did not fail' : `ended with ${code}`}:\n${output}`);
    }
    this.#compare(step.output, output);
  }

  /** Runs the text with the variables and the directory of the blocks before, and keeps them for the next. */
  #bash(text: string): Promise<Run> {
    const restore = `exec 2>&1; set -a; if [ -e '${this.#state}' ]; then . '${this.#state}'; fi`;
    const keep = `trap '{ export -p; printf "cd %q\\n" "$PWD"; } > "${this.#state}"' EXIT`;
    return this.#spawn('bash', ['-euo', 'pipefail', '-c', `${restore}\n${keep}\n${text}`], this.#directory);
  }

  #cwd(): string {
    if (!existsSync(this.#state)) return this.#directory;
    return /^cd (.*)$/m.exec(readFileSync(this.#state, 'utf8'))?.[1] ?? this.#directory;
  }

  async #runProgram(parts: readonly Part[]): Promise<void> {
    const { block } = parts[0]!;
    const extension = { js: 'mjs', cjs: 'cjs', ts: 'mts' }[block.language];
    const name = `program-${block.line}.${extension}`;
    const source = sourceOf(parts, (line) => `process.stdout.write('${MARK}${line}\\n');`);
    writeFileSync(join(this.#cwd(), name), this.#withPorts(source));
    const { output, code } = await this.#spawn('node', [
      ...(extension === 'mts' ? ['--import', TSX] : []),
      name,
    ]);
    const printed = new Map<number, string>();
    for (const piece of output.split(MARK).slice(1)) {
      const [line = ''] = piece.split('\n', 1);
      printed.set(Number(line), piece.slice(line.length + 1));
    }
    if (code !== 0) {
      const at = new RegExp(`${name}:(\\d+)`).exec(output)?.[1] ?? [...printed.keys()].at(-1) ?? block.line;
      throw new SampleError({ page: block.page, line: Number(at) }, `ended with ${code}:\n${output}`);
    }
    for (const part of parts) {
      this.#compare(part.output ?? shownByComments(part.block), printed.get(part.block.line) ?? '');
    }
  }

  #spawn(command: string, args: string[], cwd = this.#cwd()): Promise<Run> {
    const { child, output, ended } = this.#start(command, args, cwd);
    const timer = setTimeout(() => kill(child, 'SIGKILL'), BLOCK_TIMEOUT_MS);
    return ended.then(([code, signal]) => {
      clearTimeout(timer);
      return { output: output(), code: code ?? signal };
    });
  }

  #start(command: string, args: string[], cwd: string) {
    const child = spawn(command, args, {
      cwd,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (data: string) => {
        text += data;
      });
    }
    return {
      child,
      output: () => text,
      ended: once(child, 'close') as Promise<[number | null, string | null]>,
    };
  }

  /** Starts the server of a block, waits until it is ready, and returns what it printed. */
  async #startServer(block: Block): Promise<string> {
    if (!block.server) await this.#stopServers();
    const port = `export COSIFT_PORT=${this.#ports.get('8080')}`;
    const state = existsSync(this.#state) ? `. '${this.#state}'` : `cd '${this.#directory}'`;
    const script = `exec 2>&1; set -a\n${state}\n${port}\n${this.#withPorts(block.text)}`;
    const { child, output, ended } = this.#start('bash', ['-euo', 'pipefail', '-c', script], this.#directory);
    this.#servers.push({ child, ended });
    const timer = setTimeout(() => kill(child, 'SIGKILL'), BLOCK_TIMEOUT_MS);
    while (!/^listening on .*\n/m.test(output())) {
      const end = await Promise.race([once(child.stdout, 'data').then(() => undefined), ended]);
      if (end) throw new SampleError(block, `ended before it was ready:\n${output()}`);
    }
    clearTimeout(timer);
    return output();
  }

  async #stopServers(): Promise<void> {
    for (const { child, ended } of this.#servers.splice(0)) {
      kill(child, 'SIGTERM');
      const timer = setTimeout(() => kill(child, 'SIGKILL'), BLOCK_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    }
  }

  async #choosePorts(): Promise<void> {
    if (!this.#page.steps.some(({ kind }) => kind === 'server')) return;
    const others = [...this.#page.markdown.matchAll(/(?:--port |\blisten\()([1-9]\d+)/g)].map(
      ([, port = '']) => port,
    );
    for (const port of new Set(['8080', ...others])) this.#ports.set(port, await freePort());
  }

  #withPorts(text: string): string {
    let replaced = text;
    for (const [port, free] of this.#ports)
      replaced = replaced.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `${free}`);
    return replaced;
  }

  #compare(expected: Block | undefined, printed: string): void {
    if (!expected) return;
    const compare = expected.language === 'json' ? compareJson : compareText;
    const difference = compare(this.#withPorts(expected.text), printed);
    if (difference) throw new SampleError(expected, difference);
  }
}

/** What a program prints by its own comments, such as `console.log(a); // 1`: all its lines, or nothing. */
function shownByComments(block: Block): Block | undefined {
  const comments = [...block.text.matchAll(/^\s*console\.log\(.*\);? \/\/ (.*)$/gm)].map(([, text]) => text);
  return comments.length === 0 ? undefined : { ...block, language: 'text', text: comments.join('\n') };
}

/** Sends a signal to a process and to those that it started. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal);
  } catch {
    // All have ended.
  }
}
