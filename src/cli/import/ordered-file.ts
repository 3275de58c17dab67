import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { comparePositions, type RowPosition } from '../../readers/rows.js';
import { OutputFile } from '../output-file.js';

/** A part in the file of all parts. */
interface Part {
  position: RowPosition;
  start: number;
  length: number;
}

/**
 * A file of parts that are added in any order, and that are in the order of their positions when the file is written at the
 * end. Adding is synchronous, so that a failure reaches the caller that adds a part.
 */
export class OrderedFile {
  readonly #path: string;
  readonly #output: OutputFile;
  readonly #head: Uint8Array;
  /** A file without a name that has the parts as they were added. */
  readonly #descriptor: number;
  readonly #parts: Part[] = [];
  #bytes = 0;

  private constructor(path: string, output: OutputFile, head: Uint8Array, descriptor: number) {
    this.#path = path;
    this.#output = output;
    this.#head = head;
    this.#descriptor = descriptor;
  }

  /**
   * `head` is the beginning of the file.
   *
   * @throws {Error} when there cannot be a file of that name.
   */
  static async at(file: string, head: Uint8Array): Promise<OrderedFile> {
    const output = await OutputFile.at(file);
    const parts = path.join(output.scratchDirectory, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const descriptor = openSync(parts, 'wx+', 0o600);
      unlinkSync(parts);
      return new OrderedFile(file, output, head, descriptor);
    } catch (error) {
      throw Object.assign(error as Error, { path: file });
    }
  }

  /** Whether the file is replaced: a pipe, a device or an open file is not. */
  get isFile(): boolean {
    return this.#output.isFile;
  }

  isSame(other: OrderedFile): boolean {
    return this.#output.isSame(other.#output);
  }

  add(position: RowPosition, bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    } catch (error) {
      throw this.#failure(error);
    }
    this.#parts.push({ position, start: this.#bytes, length: bytes.length });
    this.#bytes += bytes.length;
  }

  /** Writes the file; without parts, one that was there before is removed. */
  async write(): Promise<void> {
    try {
      if (this.#parts.length === 0) return await this.#output.remove();
      const chunks = Readable.from(this.#inOrder(), { objectMode: false });
      await this.#output.fill((file) => pipeline(chunks, file), 0o666);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Frees what the parts take. */
  close(): void {
    closeSync(this.#descriptor);
  }

  *#inOrder(): Generator<Uint8Array> {
    yield this.#head;
    for (const { start, length } of this.#parts.toSorted((a, b) =>
      comparePositions(a.position, b.position),
    )) {
      const part = Buffer.alloc(length);
      for (let at = 0; at < length; ) at += readSync(this.#descriptor, part, at, length - at, start + at);
      yield part;
    }
  }

  #failure(error: unknown): Error {
    return new Error(`${this.#path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}
