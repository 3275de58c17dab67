import type { CallOptions, ChangesRequest } from '../api/index.js';
import type { Changes } from '../schema/public-types.js';
import { SHAPES } from './response-shapes.js';
import type { Transport } from './transport.js';

/** Milliseconds that a close waits for the response to a call that waited for changes. */
const CLOSE_MS = 2_000;

/** Returns changes after a position. A close of the client ends the wait for a first change as if its time were over. */
export function readChanges(
  transport: Transport,
  database: string,
  request: ChangesRequest,
  { signal }: CallOptions,
): Promise<Changes> {
  const { waitMs, ...parameters } = request;
  return transport.run(async (send) => {
    const read = (wait?: number, stop?: AbortSignal) => {
      const path = `${database}/changes?${queryOf({ ...parameters, wait })}`;
      return send<Changes>('GET', path, SHAPES.changes, undefined, { signal, stop });
    };
    if (waitMs === undefined) return read();
    try {
      return await read(Math.ceil(waitMs / 1000), transport.closing);
    } catch (error) {
      signal?.throwIfAborted();
      if (!transport.closing.aborted) throw error;
      return await readAtOnce((stop) => read(undefined, stop), signal, transport.closing);
    }
  });
}

/** Reads the changes that there are. A service that does not respond holds up a close for a short time only. */
async function readAtOnce(
  read: (stop: AbortSignal) => Promise<Changes>,
  signal: AbortSignal | undefined,
  closing: AbortSignal,
): Promise<Changes> {
  const late = AbortSignal.timeout(CLOSE_MS);
  try {
    return await read(late);
  } catch (error) {
    signal?.throwIfAborted();
    throw late.aborted ? closing.reason : error;
  }
}

function queryOf(parameters: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
