import type { Readable } from 'node:stream';
import { CosiftError } from '../../errors.js';

const NEWLINE = 0x0a;

/**
 * The chunks of a body of lines. What is left of the body when the iterator ends is read and dropped, so that the
 * sender can take the response.
 *
 * @throws {CosiftError} `request_timeout` when it has waited `idleMs` for a chunk that ends a line; `stopped` when the
 * body breaks off; the signal's reason.
 */
export async function* bodyChunks(
  body: Readable,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let left = idleMs;
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk = body.read() as Uint8Array | null;
      if (chunk !== null) {
        if (chunk.includes(NEWLINE)) left = idleMs;
        yield chunk;
        continue;
      }
      if (body.readableEnded) return;
      if (body.destroyed) throw new CosiftError('stopped', 'the body ended early');
      const start = performance.now();
      if (!(await readable(body, left, signal))) {
        throw new CosiftError('request_timeout', `no complete line arrived for ${idleMs} ms`);
      }
      left -= performance.now() - start;
    }
  } finally {
    body.on('error', () => undefined).resume();
  }
}

/** Waits until there is something to read, or `body` or `signal` ends; false when that takes longer than `ms`. */
function readable(body: Readable, ms: number, signal: AbortSignal): Promise<boolean> {
  const events = ['readable', 'end', 'error', 'close'] as const;
  return new Promise((resolve) => {
    const settle = (arrived: boolean) => {
      clearTimeout(timer);
      for (const event of events) body.off(event, arrive);
      signal.removeEventListener('abort', arrive);
      resolve(arrived);
    };
    const arrive = () => settle(true);
    const timer = setTimeout(() => settle(false), Math.max(0, ms));
    for (const event of events) body.on(event, arrive);
    signal.addEventListener('abort', arrive, { once: true });
  });
}
