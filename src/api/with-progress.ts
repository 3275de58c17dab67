import type { LineEvent, LineProgress } from '../schema/public-types.js';

/** Yields the events of a stream of lines, and calls `onProgress` with each event of progress before. */
export async function* withProgress(
  events: AsyncIterable<LineEvent>,
  onProgress: ((progress: LineProgress) => void) | undefined,
): AsyncGenerator<LineEvent, void, undefined> {
  for await (const event of events) {
    if (event.type === 'progress') onProgress?.(event);
    yield event;
  }
}
