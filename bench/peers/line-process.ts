import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A program that replies to each line with one line, in order. Its first line says that it is ready. */
export class LineProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(program: string, options: readonly string[]) {
    this.#process = spawn(program, options, { stdio: ['pipe', 'pipe', 'inherit'] });
    // No reply can come any more, so this process ends, which the bench detects.
    this.#process.once('exit', (code, signal) => {
      if (code !== 0) throw new Error(`${program} ended with ${signal ?? code}`);
    });
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#waiting.shift()?.(line));
  }

  /** A line that arrived before it was awaited. */
  line(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ask(line: string): Promise<string> {
    this.#process.stdin.write(`${line}\n`);
    return this.line();
  }

  end(): void {
    this.#process.stdin.end();
  }
}
