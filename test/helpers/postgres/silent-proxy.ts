import { connect, type Socket } from 'node:net';
import { LocalProxy } from './local-proxy.js';

/** Forwards connections to a port of this machine, until it is silent: then it keeps them open and forwards nothing. */
export class SilentProxy extends LocalProxy {
  isSilent = false;
  /** Bytes that were not forwarded. */
  swallowed = 0;
  /** Changes what the server sends. */
  change: (bytes: Buffer) => Buffer = (bytes) => bytes;
  /** Changes what callers send. */
  changeSent: (bytes: Buffer) => Buffer = (bytes) => bytes;
  /** The connections of callers, in their order. */
  readonly callers: Socket[] = [];
  readonly #target: number;

  private constructor(target: number) {
    super();
    this.#target = target;
  }

  static listen(target: number): Promise<SilentProxy> {
    return new SilentProxy(target).listening();
  }

  protected accept(caller: Socket): void {
    const server = this.keep(connect(this.#target, '127.0.0.1'));
    this.callers.push(caller);
    for (const [from, to] of [
      [caller, server],
      [server, caller],
    ] as const) {
      from.on('data', (bytes) => {
        if (this.isSilent) this.swallowed += bytes.length;
        else to.write(from === server ? this.change(bytes) : this.changeSent(bytes));
      });
      from.on('close', () => this.isSilent || to.destroy());
    }
  }
}
