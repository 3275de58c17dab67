import { SHAPES } from '../../client/response-shapes.js';
import { Transport } from '../../client/transport.js';
import { connection, openServer, type TargetOptions } from '../target.js';
import type { JsonReader } from './json-reader.js';

/** Returns a reader of the records of a server. */
export async function openServerReader(url: string, options: TargetOptions): Promise<JsonReader> {
  const transport = new Transport(connection(url, options));
  const path = (database: string) => `/databases/${encodeURIComponent(database)}`;
  return {
    databases: await openServer(url, options),
    page: (database, { kind, request }) =>
      transport.text('POST', `${path(database)}/${kind}`, SHAPES[kind], request),
    record: (database, id) =>
      transport.text('GET', `${path(database)}/records/${encodeURIComponent(id)}`, SHAPES.record),
    close: () => transport.close(),
  };
}
