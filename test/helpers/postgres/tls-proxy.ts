import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SelfSigned } from '../self-signed-certificate.js';

/** The message with which a client asks for TLS, as PostgreSQL's protocol defines it. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');

/** Stands for a PostgreSQL server with `ssl=on`: it negotiates TLS, and forwards what connections send to a server without. */
export class TlsProxy {
  /** Connections with TLS, and without it. */
  readonly counts = { encrypted: 0, plain: 0 };
  /** Whether it says that it has no TLS. */
  refusesTls = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number, certificate: SelfSigned) {
    this.#server = createServer((caller) => {
      this.#add(caller);
      caller.once('data', (first) => {
        const asksForTls = first.equals(SSL_REQUEST);
        if (asksForTls && this.refusesTls) {
          caller.write('N');
          return;
        }
        const server = this.#add(connect(target, '127.0.0.1'));
        let client = caller;
        if (asksForTls) {
          this.counts.encrypted += 1;
          client = this.#add(new TLSSocket(caller, { isServer: true, ...certificate }));
          caller.write('S');
        } else {
          this.counts.plain += 1;
          server.write(first);
        }
        client.pipe(server).pipe(client);
        client.on('close', () => server.destroy());
        server.on('close', () => client.destroy());
      });
    });
  }

  static async listen(target: number, certificate: SelfSigned): Promise<TlsProxy> {
    const proxy = new TlsProxy(target, certificate);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #add<S extends Socket>(socket: S): S {
    this.#sockets.add(socket);
    // A handshake that the client gives up.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }
}
