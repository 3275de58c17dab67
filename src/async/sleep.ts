import { setTimeout } from 'node:timers/promises';

/** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal && { signal });
  } catch (error) {
    // The timer rejects with an AbortError of its own.
    signal?.throwIfAborted();
    throw error;
  }
}
