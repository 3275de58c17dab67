import type { Readable } from 'node:stream';
import { endOfTurn } from '../../async/end-of-turn.js';
import { CosiftError } from '../../errors.js';
import { endedEarly } from './body-buffer.js';
import { sendContinue } from './expect-continue.js';
import { refusalOf } from './small-chunks.js';

const NEWLINE = 0x0a;

/**
 * Yields the chunks of an NDJSON body. When the iterator ends early, the rest of the body is read and dropped, so that
 * the client can read the response.
 *
 * @throws {CosiftError} `request_timeout` when no line was completed for `idleMs`; `stopped` when the
 * connection closes before the end of the body; the signal's reason.
 */
export async function* bodyChunks(
  body: Readable,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let left = idleMs;
  sendContinue(body);
  try {
    for (;;) {
      signal.throwIfAborted();
      const refusal = refusalOf(body);
      if (refusal !== undefined) throw refusal;
      const chunk = body.read() as Uint8Array | null;
      if (chunk !== null) {
        if (chunk.includes(NEWLINE)) left = idleMs;
        yield chunk;
        continue;
      }
      if (body.readableEnded) return;
      if (body.destroyed) throw endedEarly();
      const start = performance.now();
      if (!(await readable(body, left, signal))) {
        throw new CosiftError('request_timeout', `no complete line arrived for ${idleMs} ms`);
      }
      // Everything that has arrived is then read as one chunk, however small the chunks of the client are.
      await endOfTurn();
      left -= performance.now() - start;
    }
  } finally {
    body.on('error', () => undefined).resume();
  }
}

/**
 * Waits until `body` is readable or has ended, or `signal` is aborted. Returns false when nothing has arrived after `ms`
 * milliseconds.
 */
function readable(body: Readable, ms: number, signal: AbortSignal): Promise<boolean> {
  const events = ['readable', 'end', 'error', 'close'] as const;
  return new Promise((resolve) => {
    const finish = (inTime: boolean) => {
      clearTimeout(timer);
      for (const event of events) body.off(event, onEvent);
      signal.removeEventListener('abort', onEvent);
      resolve(inTime);
    };
    const onEvent = () => finish(true);
    // After a pause of the process, timers run before what has arrived meanwhile is read.
    const timer = setTimeout(() => setImmediate(finish, false), Math.max(0, ms));
    for (const event of events) body.on(event, onEvent);
    signal.addEventListener('abort', onEvent, { once: true });
  });
}
