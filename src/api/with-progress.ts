import type { LineEvent } from '../schema/public-types.js';
import type { UpsertLinesOptions } from './options.js';

/**
 * Yields the events of a stream of lines, and calls `onProgress` with each event of progress before. Throws the reason of
 * the signal instead of a further event once it is aborted.
 */
export async function* withProgress(
  events: AsyncIterable<LineEvent>,
  { signal, onProgress }: UpsertLinesOptions,
): AsyncGenerator<LineEvent, void, undefined> {
  for await (const event of events) {
    signal?.throwIfAborted();
    if (event.type === 'progress') onProgress?.(event);
    yield event;
  }
}
