/**
 * Returns the result of a promise; rejects with the signal's reason as soon as the signal is aborted. Without a signal,
 * returns the promise itself.
 */
export function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Yields the items of `source`. Throws the signal's reason as soon as the signal is aborted, without waiting for the
 * next item.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await unlessAborted(Promise.resolve(iterator.next()), signal);
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: a generator that waits for its next item ends only after that item.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
