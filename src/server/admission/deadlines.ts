import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { onClose } from '../http/on-close.js';

/**
 * Runs `call` with a signal that is aborted when the caller goes away or after `timeoutMs`. A call that ends early for
 * it throws `stopped` or `timed_out`; the result of one that succeeds all the same counts.
 */
export async function withAbortAndTimeout<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(timedOut(timeoutMs)), timeoutMs);
  const forget = onClose(request, reply, () =>
    controller.abort(new CosiftError('stopped', 'the caller went away')),
  );
  try {
    return await call(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/**
 * Waits for a call that cannot be stopped, and throws `timed_out` after `timeoutMs`. What the request has taken is held
 * until the call is done.
 */
export async function withTimeout<T>(
  request: FastifyRequest,
  timeoutMs: number,
  call: () => Promise<T>,
): Promise<T> {
  const release = request.resources?.hold();
  const called = call().finally(() => release?.());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([called, late]);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(timeoutMs: number): CosiftError {
  return new CosiftError('timed_out', `took longer than ${timeoutMs} ms`);
}
