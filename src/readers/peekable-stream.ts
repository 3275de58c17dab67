/** A stream of bytes whose beginning can be looked at before it is read. */
export class PeekableStream {
  readonly #input: AsyncIterator<Uint8Array>;
  readonly #head: Uint8Array[] = [];
  #ended = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#input = chunks[Symbol.asyncIterator]();
  }

  /** Returns at least `bytes` bytes of the beginning, or all bytes of a shorter stream. */
  async peek(bytes: number): Promise<Uint8Array> {
    return this.peekUntil((head) => head.length >= bytes);
  }

  /** Returns the beginning that is complete for `isEnough`, or all bytes of the stream. */
  async peekUntil(isEnough: (head: Uint8Array) => boolean): Promise<Uint8Array> {
    for (;;) {
      const head = Buffer.concat(this.#head);
      if (this.#ended || isEnough(head)) return head;
      const { done, value } = await this.#input.next();
      if (done) this.#ended = true;
      else this.#head.push(value);
    }
  }

  /** Whether the whole stream is in the beginning that was looked at. */
  get isWhole(): boolean {
    return this.#ended;
  }

  /** Yields the whole stream, once. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#head.splice(0);
      for (let next = await this.#input.next(); !next.done; next = await this.#input.next()) yield next.value;
    } finally {
      await this.#input.return?.();
    }
  }

  /** Ends the stream before its end. */
  async close(): Promise<void> {
    await this.#input.return?.();
  }
}
