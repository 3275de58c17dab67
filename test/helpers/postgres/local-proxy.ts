import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server on a free port of this machine that stands between callers and another server. */
export abstract class LocalProxy {
  readonly #server = createServer((caller) => this.accept(this.keep(caller)));
  readonly #sockets = new Set<Socket>();

  /** Connects a caller. */
  protected abstract accept(caller: Socket): void;

  /** Keeps a connection until it ends, or the proxy is closed. Its errors are ignored: others notice that it ended. */
  protected keep<S extends Socket>(socket: S): S {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }

  protected async listening(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
