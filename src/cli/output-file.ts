import { randomBytes } from 'node:crypto';
import { createWriteStream, type Stats } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { syncDirectory } from '../platform/platform.js';

/** A file that a command writes. It has its name only once it is complete and on disk. */
export class OutputFile {
  readonly #file: string;
  /** What was there before. */
  readonly #before: Stats | undefined;
  /** The descriptor of an open file that `/dev/stdout` and the like name: a shell may append to the file. */
  readonly #descriptor: number | undefined;

  private constructor(file: string, before: Stats | undefined, descriptor?: number) {
    this.#file = file;
    this.#before = before;
    this.#descriptor = descriptor;
  }

  /**
   * Finds the place that `output` names. A link leads to its place, and stays a link.
   *
   * @throws {Error} for a directory, and for a file in a directory that does not exist.
   */
  static async at(output: string): Promise<OutputFile> {
    const found = await statOf(output);
    if (found?.isDirectory()) throw new Error(`${output} is a directory: give the name of a file`);
    if (found !== undefined) {
      // A pipe is opened again by its path: writing to a descriptor that does not block fails when the pipe is full.
      const descriptor = found.isFile() ? descriptorOf(output) : undefined;
      if (descriptor !== undefined) return new OutputFile(output, found, descriptor);
      // The real path of /dev/stdout need not exist.
      return new OutputFile(found.isFile() ? await realpath(output) : output, found);
    }
    const target = await readlink(output).catch(() => undefined);
    const directory = path.dirname(output);
    if (target !== undefined) return OutputFile.at(path.resolve(directory, target));
    if ((await statOf(directory)) === undefined) throw new Error(`there is no directory ${directory}`);
    return new OutputFile(output, undefined);
  }

  /** A directory for files that are needed until this one is complete: its own, if it is replaced. */
  get scratchDirectory(): string {
    return this.isFile ? path.dirname(this.#file) : tmpdir();
  }

  /** Whether the file is replaced: a pipe, a device or an open file is not. */
  get isFile(): boolean {
    return this.#descriptor === undefined && this.#before?.isFile() !== false;
  }

  /** Whether both are the same place. */
  isSame(other: OutputFile): boolean {
    return this.#file === other.#file;
  }

  /**
   * Lets `write` fill the file; after a failure, what was there before is unchanged. A pipe, a device or an open file is
   * written to, not replaced. A new file has `mode`, without the bits of the umask; a replaced file keeps those of its bits that `mode` has.
   */
  async fill(write: (file: Writable) => Promise<void>, mode: number): Promise<void> {
    const file = this.#file;
    if (!this.isFile) return await write(this.#stream());
    // Nobody can plant a link under a name that cannot be guessed, and an existing file is not opened.
    const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
    const handle = await open(temporary, 'wx', mode).catch((error) => {
      throw Object.assign(error, { path: file });
    });
    try {
      if (this.#before !== undefined) await handle.chmod(this.#before.mode & mode);
      // The stream closes the handle.
      await write(handle.createWriteStream({ flush: true }));
      await rename(temporary, file);
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
      throw error;
    }
    await syncDirectory(path.dirname(this.#file));
  }

  /** Removes what was there before, unless it is a pipe or a device. */
  async remove(): Promise<void> {
    if (!this.isFile || this.#before === undefined) return;
    await rm(this.#file, { force: true });
    await syncDirectory(path.dirname(this.#file));
  }

  #stream(): Writable {
    if (this.#descriptor === undefined) return createWriteStream(this.#file);
    return createWriteStream('', { fd: this.#descriptor, autoClose: false });
  }
}

/** Returns the descriptor that a path such as `/dev/stdout` names. */
function descriptorOf(file: string): number | undefined {
  const standard = ['/dev/stdin', '/dev/stdout', '/dev/stderr'].indexOf(file);
  if (standard >= 0) return standard;
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(file)?.[1];
  return number === undefined ? undefined : Number(number);
}

async function statOf(name: string): Promise<Stats | undefined> {
  try {
    return await stat(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
