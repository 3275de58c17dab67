import { connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SelfSigned } from '../self-signed-certificate.js';
import { LocalProxy } from './local-proxy.js';

/** The message with which a client asks for TLS, as PostgreSQL's protocol defines it. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');

/** Stands for a PostgreSQL server with `ssl=on`: it negotiates TLS, and forwards what connections send to a server without. */
export class TlsProxy extends LocalProxy {
  /** Connections with TLS, and without it. */
  readonly counts = { encrypted: 0, plain: 0 };
  /** Whether it says that it has no TLS. */
  refusesTls = false;
  readonly #target: number;
  readonly #certificate: SelfSigned;

  private constructor(target: number, certificate: SelfSigned) {
    super();
    this.#target = target;
    this.#certificate = certificate;
  }

  static listen(target: number, certificate: SelfSigned): Promise<TlsProxy> {
    return new TlsProxy(target, certificate).listening();
  }

  protected accept(caller: Socket): void {
    caller.once('data', (first) => {
      const asksForTls = first.equals(SSL_REQUEST);
      if (asksForTls && this.refusesTls) {
        caller.write('N');
        return;
      }
      const server = this.keep(connect(this.#target, '127.0.0.1'));
      let client = caller;
      if (asksForTls) {
        this.counts.encrypted += 1;
        client = this.keep(new TLSSocket(caller, { isServer: true, ...this.#certificate }));
        caller.write('S');
      } else {
        this.counts.plain += 1;
        server.write(first);
      }
      client.pipe(server).pipe(client);
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
    });
  }
}
