import { type ChildProcess, spawn } from 'node:child_process';
import { unlessAborted } from '../../../async/until-aborted.js';
import { CosiftError } from '../../../errors.js';
import { packageFile } from '../../../platform/package.js';
import type { Cell } from '../../../readers/cells.js';
import { listOf } from '../../../readers/json/object.js';

// The compiled file, even if this module runs from its source, because a process cannot run TypeScript.
const MAIN = packageFile('dist/store/local/sqlite-file.js');

const NEWLINE = 0x0a;
/** Rows that are returned at once. */
const BATCH_ROWS = 1_000;

/** A process that reads a SQLite file. Statements run one after the other, and share one connection. */
export class SqliteProcess {
  readonly #path: string;
  readonly #child: ChildProcess;
  readonly #output: AsyncIterator<Buffer>;
  readonly #ended: Promise<unknown>;
  #rest: Buffer = Buffer.alloc(0);
  #errors = '';
  /** Whether the answer to the last statement was read to its end. */
  #isIdle = true;

  constructor(path: string) {
    this.#path = path;
    // In Electron, the program runs as Node.
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
    this.#child = spawn(process.execPath, [MAIN, path], { stdio: 'pipe', env });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve).once('error', resolve));
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-1_000);
    });
    this.#output = (this.#child.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Whether another statement can be run. */
  get isUsable(): boolean {
    return this.#isIdle && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Yields the rows of a statement. */
  async *rows(statement: string, signal: AbortSignal): AsyncGenerator<Cell[][]> {
    this.#isIdle = false;
    this.#child.stdin?.write(`${JSON.stringify(statement)}\n`);
    let rows: Cell[][] = [];
    for (;;) {
      const line = this.#line();
      if (line === undefined) {
        if (rows.length > 0) yield rows;
        rows = [];
        await this.#read(signal);
      } else if (line.startsWith('[')) {
        if (rows.push(listOf(line) as Cell[]) < BATCH_ROWS) continue;
        yield rows;
        rows = [];
      } else {
        this.#isIdle = true;
        if (rows.length > 0) yield rows;
        this.#check(line);
        return;
      }
    }
  }

  async close(): Promise<void> {
    // Rows that nobody reads would keep the process from being reported as ended.
    this.#child.stdout?.destroy();
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** The next line of the output that was read; undefined if it is not complete. */
  #line(): string | undefined {
    const end = this.#rest.indexOf(NEWLINE);
    if (end < 0) return undefined;
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { done, value } = await unlessAborted(this.#output.next(), signal);
    if (!done) {
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
      return;
    }
    await this.#ended;
    throw new CosiftError(
      'source_unavailable',
      `the process that reads ${this.#path} ended: ${this.#errors.trim() || 'it was killed'}`,
    );
  }

  #check(line: string): void {
    const { error, is_busy } = JSON.parse(line) as { error?: string; is_busy?: boolean };
    if (error === undefined) return;
    throw new CosiftError(
      is_busy ? 'source_unavailable' : 'source_failed',
      `${this.#path} cannot be read: ${error}`,
    );
  }
}
