import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { CosiftError } from '../../errors.js';
import { count } from '../../schema/plain.js';

/** Bytes that stay free for the writes that go on during a backup. */
const RESERVE = 64 << 20;

/** Bytes of one read. */
const CHUNK = 1 << 18;

/** The directory for the files of one backup until they are sent. It is in the data directory, for its owner only. */
export class TemporaryCopy {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Removes what a killed process left in a data directory. */
  static removeLeftover(dataDirectory: string): void {
    rmSync(pathOf(dataDirectory), { recursive: true, force: true });
  }

  /**
   * Creates the directory for files of `bytes` bytes in all.
   *
   * @throws {CosiftError} `disk_full` when there is no room for them.
   */
  static async create(dataDirectory: string, bytes: number): Promise<TemporaryCopy> {
    const { bavail, bsize } = await statfs(dataDirectory);
    const free = bavail * bsize;
    if (bytes + RESERVE > free) {
      const detail = `a backup needs ${mebibytes(bytes + RESERVE)} free in the data directory, which has ${mebibytes(free)}`;
      throw new CosiftError('disk_full', detail);
    }
    const directory = pathOf(dataDirectory);
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { mode: 0o700 });
    return new TemporaryCopy(directory);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** SHA-256 of the content of a file, in hexadecimal digits. */
export async function sha256Of(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK, signal })) hash.update(chunk);
  return hash.digest('hex');
}

function pathOf(dataDirectory: string): string {
  return path.join(dataDirectory, '.backup');
}

function mebibytes(bytes: number): string {
  return `${count(Math.ceil(bytes / 2 ** 20))} MiB`;
}
