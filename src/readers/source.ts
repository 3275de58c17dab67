import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';

/** Where the bytes of an import come from. */
export interface Source {
  /** The path of a file, which can be read several times; undefined for a pipe. */
  readonly file: string | undefined;
  /** Aborted when the import is stopped. */
  readonly stop: AbortSignal;
  /** Reads all bytes from the beginning. A pipe is read once. */
  read(): AsyncIterable<Uint8Array>;
  /** The share of the bytes that the newest `read` has read; undefined for a pipe. */
  share(): number | undefined;
  /** @throws {Error} when the file has changed since it was opened: rows could be missing. */
  checkUnchanged(): Promise<void>;
}

/** Opens a file, or standard input for `-`. When `stop` is aborted, reading fails, even while a pipe is silent. */
export async function openSource(file: string, stop: AbortSignal): Promise<Source> {
  if (file === '-') {
    return {
      file: undefined,
      stop,
      read: () => addAbortSignal(stop, process.stdin),
      share: () => undefined,
      checkUnchanged: async () => undefined,
    };
  }
  const before = await stat(file);
  if (!before.isFile()) {
    throw new Error(`${file} is not a regular file, which can be read twice; give - to read from a pipe`);
  }
  return new FileSource(file, stop, before);
}

class FileSource implements Source {
  readonly file: string;
  readonly stop: AbortSignal;
  readonly #before: Stats;
  #bytes = 0;

  constructor(file: string, stop: AbortSignal, before: Stats) {
    this.file = file;
    this.stop = stop;
    this.#before = before;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    this.#bytes = 0;
    const stream = createReadStream(this.file, { highWaterMark: 1 << 18 });
    for await (const chunk of addAbortSignal(this.stop, stream) as AsyncIterable<Uint8Array>) {
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  share(): number {
    return this.#before.size === 0 ? 1 : this.#bytes / this.#before.size;
  }

  async checkUnchanged(): Promise<void> {
    const { size, mtimeMs } = await stat(this.file);
    if (size !== this.#before.size || mtimeMs !== this.#before.mtimeMs) {
      throw new Error(`${this.file} changed while it was read; import it again`);
    }
  }
}
