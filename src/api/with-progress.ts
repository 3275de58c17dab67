import type { LineEvent } from '../schema/public-types.js';
import type { UpsertLinesOptions } from './options.js';

/**
 * Yields the events of a stream of lines, and calls `onProgress` with each event of progress before. What was committed
 * before an abort is told, so the events go on until the stream ends.
 */
export async function* withProgress(
  events: AsyncIterable<LineEvent>,
  { onProgress }: UpsertLinesOptions,
): AsyncGenerator<LineEvent, void, undefined> {
  for await (const event of events) {
    if (event.type === 'progress') onProgress?.(event);
    yield event;
  }
}
