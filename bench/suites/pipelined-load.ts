import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200');
const LENGTH = Buffer.from('content-length: ');

/**
 * Sends the same requests again and again over connections with several requests each, without a client of HTTP, which
 * would take more time than the server. Every response must have the status 200 and a `content-length`.
 */
export class PipelinedLoad {
  readonly #requests: readonly Buffer[];
  readonly #sockets: Socket[] = [];
  #turn = 0;
  #stopped = false;
  #failure: Error | undefined;
  /** Responses that have arrived completely. */
  answered = 0;

  private constructor(requests: readonly Buffer[]) {
    this.#requests = requests;
  }

  /** Connects, and sends `depth` requests on each of `connections` connections. */
  static async start(
    port: number,
    requests: readonly Buffer[],
    { connections, depth }: { connections: number; depth: number },
  ): Promise<PipelinedLoad> {
    const load = new PipelinedLoad(requests);
    try {
      for (let i = 0; i < connections; i++) {
        const socket = connect({ port, host: '127.0.0.1', noDelay: true });
        load.#sockets.push(socket);
        await once(socket, 'connect');
        socket.on('error', (error) => load.#fail(error));
        socket.on('close', () => load.#stopped || load.#fail(new Error('the server closed a connection')));
        load.#read(socket);
        load.#send(socket, depth);
      }
      return load;
    } catch (error) {
      load.#close();
      throw error;
    }
  }

  /** @throws the first error of a connection or a response. */
  async stop(): Promise<void> {
    this.#close();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #close(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #send(socket: Socket, count: number): void {
    const sent = Array.from({ length: count }, () => this.#requests[this.#turn++ % this.#requests.length]!);
    socket.write(Buffer.concat(sent));
  }

  #read(socket: Socket): void {
    let rest: Buffer = Buffer.alloc(0);
    /** Bytes of the body that have not arrived. */
    let missing = 0;
    socket.on('data', (chunk: Buffer) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      rest = Buffer.alloc(0);
      let at = 0;
      let answers = 0;
      while (at < bytes.length) {
        if (missing > 0) {
          const taken = Math.min(missing, bytes.length - at);
          at += taken;
          missing -= taken;
          if (missing === 0) answers += 1;
          continue;
        }
        const end = bytes.indexOf(HEAD_END, at);
        if (end === -1) {
          rest = bytes.subarray(at);
          break;
        }
        const length = bytes.indexOf(LENGTH, at);
        if (!bytes.subarray(at, at + OK.length).equals(OK) || length === -1 || length > end)
          return this.#fail(new Error(bytes.toString('latin1', at, end)));
        missing = Number.parseInt(bytes.toString('latin1', length + LENGTH.length, end), 10);
        at = end + HEAD_END.length;
      }
      this.answered += answers;
      if (answers > 0 && !this.#stopped) this.#send(socket, answers);
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
  }
}
