import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';

/** Maximum number of bytes of a message. */
const MAX_MESSAGE = 10_485_760;

/** Codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const NEWLINE = 0x0a;

/**
 * Messages of JSON-RPC, a line each. A line that is no message gets an error as its response. After the end of the input,
 * the requests in flight still get their responses.
 */
export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  /** Resolves when all requests have responses after the end of the input, or when nobody reads the responses. */
  readonly finished: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  #line: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  /** The ids of the requests without a response. */
  readonly #open = new Set<unknown>();
  #finish!: () => void;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read).once('end', this.#end).once('close', this.#end);
    this.#output.on('error', () => this.#finish());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if (!('method' in message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#read).pause();
    this.onclose?.();
  }

  readonly #read = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#append(chunk.subarray(from, end));
      this.#take();
      from = end + 1;
    }
    this.#append(chunk.subarray(from));
  };

  readonly #end = (): void => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#take();
    this.#settle(undefined);
  };

  /** Adds a part to the line. Of a line that is too long, nothing is kept. */
  #append(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_MESSAGE) this.#line = [];
    else this.#line.push(part);
  }

  #take(): void {
    const text = Buffer.concat(this.#line).toString().trim();
    const isTooLong = this.#bytes > MAX_MESSAGE;
    this.#line = [];
    this.#bytes = 0;
    if (isTooLong) this.#refuse(INVALID_REQUEST, `the message has more than ${MAX_MESSAGE} bytes`);
    else if (text !== '') this.#receive(text);
  }

  #receive(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#refuse(PARSE_ERROR, `the line is no JSON: ${(error as Error).message}`);
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const { id } = Object(value) as { id?: unknown };
      const isId = typeof id === 'string' || typeof id === 'number';
      this.#refuse(INVALID_REQUEST, 'the line is no message of JSON-RPC 2.0', isId ? id : null);
      return;
    }
    if ('method' in message) {
      // A subscription has no response while it lasts.
      if ('id' in message && message.method !== 'subscriptions/listen') this.#open.add(message.id);
      if (message.method === 'notifications/cancelled') this.#settle(message.params?.requestId);
    }
    this.onmessage?.(message);
  }

  #refuse(code: number, message: string, id: string | number | null = null): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } }).catch(() => undefined);
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  #settle(id: unknown): void {
    this.#open.delete(id);
    if (this.#hasEnded && this.#open.size === 0) this.#finish();
  }
}
