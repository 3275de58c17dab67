// A service on PostgreSQL in a process of its own, which tells how long it waited for statements, and its processor time.
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { SERVER } from '../../built.js';

/** What the process has used so far, in milliseconds. */
export interface Used {
  /** From the heads of requests to the ends of their responses. */
  requests: number;
  /** While at least one statement runs. */
  statements: number;
  cpu: number;
}

let [requests, statements] = [0, 0];
/** The statements that are running, and when the first of them began. */
let [running, since] = [0, 0];
const { emit } = Server.prototype;
Server.prototype.emit = function (this: Server, event: string | symbol, ...args: unknown[]) {
  if (event === 'request') {
    const begun = performance.now();
    const [, response] = args as [IncomingMessage, ServerResponse];
    response.once('finish', () => {
      requests += performance.now() - begun;
    });
  }
  return (emit as (...args: unknown[]) => boolean).call(this, event, ...args);
} as typeof emit;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const now = performance.now();
  const result = (query as (...args: unknown[]) => unknown).apply(this, args);
  // Nobody waits for it.
  if (!(result instanceof Promise)) return result;
  if (args[0] instanceof Object && 'text' in args[0] && args[0].text === 'ROLLBACK') return result;
  if (running++ === 0) since = now;
  const end = () => {
    if (--running === 0) statements += performance.now() - since;
  };
  result.then(end, end);
  return result;
} as typeof query;

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ requests, statements, cpu: (user + system) / 1_000 } satisfies Used);
});
process.argv = [process.argv[0] as string, SERVER, ...process.argv.slice(2)];
await import(pathToFileURL(SERVER).href);
