import type { FastifyReply, FastifyRequest } from 'fastify';
import { Stop } from '../../async/stoppable.js';
import { CosiftError } from '../../errors.js';
import { onClose } from '../http/on-close.js';

/**
 * Runs `call` with a signal that is aborted when the connection closes or after `timeoutMs`. If `call` still succeeds
 * after that, its result is returned. The signal is made when `call` reads it for the first time.
 *
 * @throws {CosiftError} `stopped` or `timed_out` when `call` fails after the signal was aborted; otherwise its own error.
 */
export async function withAbortAndTimeout<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  timeoutMs: number,
  call: (stop: Stop) => Promise<T>,
): Promise<T> {
  const stop = new Stop();
  const timer = setTimeout(() => stop.stop(timedOut(timeoutMs)), timeoutMs);
  const forget = onClose(request, reply, () => stop.stop(new CosiftError('stopped', 'the caller went away')));
  try {
    return await call(stop);
  } catch (error) {
    throw stop.isStopped ? stop.signal.reason : error;
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/**
 * Runs a call that cannot be aborted. The request keeps its resources until the call is done, even after the timeout.
 *
 * @throws {CosiftError} `timed_out` after `timeoutMs`; otherwise the error of the call.
 */
export async function withTimeout<T>(
  request: FastifyRequest,
  timeoutMs: number,
  call: () => Promise<T>,
): Promise<T> {
  const release = request.resources?.hold();
  const called = call().finally(() => release?.());
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([called, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(timeoutMs: number): CosiftError {
  return new CosiftError('timed_out', `took longer than ${timeoutMs} ms`);
}
