import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CACHE_DIRECTORY, type DatasetKey, nameOf } from '../data/dataset.js';
import { ROOT_DIRECTORY } from '../paths.js';
import type { PeerCard } from './peer.js';
import type { Command, Replies, Reply } from './protocol.js';

/** A system in its own process. */
export class RemotePeer {
  readonly card: PeerCard;
  readonly #process: ChildProcess;
  #ended = false;

  constructor(card: PeerCard, threads: number) {
    this.card = card;
    this.#process = fork(join(ROOT_DIRECTORY, 'bench/peers/host.ts'), [card.name, String(threads)], {
      cwd: ROOT_DIRECTORY,
      execArgv: ['--import', 'tsx', '--max-old-space-size=12000'],
      serialization: 'advanced',
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#process.once('exit', () => {
      this.#ended = true;
    });
  }

  /** Sends a command and waits for the reply. Only one command at a time. */
  call<C extends Command>(command: C): Promise<Replies[C['op']]> {
    return new Promise((resolve, reject) => {
      const child = this.#process;
      const onExit = (code: number | null, signal: string | null) => {
        child.off('message', onMessage);
        reject(new Error(`${this.card.name} ended with ${signal ?? code} during ${command.op}`));
      };
      const onMessage = (reply: Reply) => {
        child.off('exit', onExit);
        if ('error' in reply) reject(new Error(`${this.card.name}: ${reply.error}`));
        else resolve(reply.value as Replies[C['op']]);
      };
      if (this.#ended) return onExit(child.exitCode, child.signalCode);
      child.once('exit', onExit);
      child.once('message', onMessage);
      child.send(command);
    });
  }

  /** Binds all threads of the process to one core, or to all cores again. Has no effect without `taskset`. */
  pin(core: number | 'all'): void {
    const list = core === 'all' ? `0-${availableParallelism() - 1}` : String(core);
    try {
      execFileSync('taskset', ['-apc', list, String(this.#process.pid)], { stdio: 'ignore' });
    } catch {
      // Not Linux. The system then uses its default number of threads.
    }
  }

  /** Loads the dataset, or for a peer, reopens what an earlier run built if the system can. */
  async load(key: DatasetKey): Promise<{ ms: number; directory: string }> {
    const directory = directoryOf(this.card, key);
    const mark = join(directory, 'built.json');
    if (this.card.ours !== true && this.card.keeps === true && existsSync(mark)) {
      await this.call({ op: 'reopen', key, directory });
      return { ms: (JSON.parse(readFileSync(mark, 'utf8')) as { ms: number }).ms, directory };
    }
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    const { ms } = await this.call({ op: 'load', key, directory });
    writeFileSync(mark, JSON.stringify({ ms }));
    return { ms, directory };
  }

  /** Closes the system and ends its process. */
  async end(): Promise<void> {
    if (this.#ended) return;
    await this.call({ op: 'close' }).catch(() => null);
    await new Promise<void>((resolve) => {
      this.#process.once('exit', () => resolve());
      this.#process.disconnect();
      // A library that hangs while it closes must not hang the bench.
      const stop = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
      stop.unref();
    });
  }
}

/** The directory in which a system stores a dataset. */
export function directoryOf(card: PeerCard, key: DatasetKey): string {
  return join(CACHE_DIRECTORY, 'systems', `${card.name.replaceAll(/[^a-zA-Z0-9]+/g, '-')}-${nameOf(key)}`);
}
