import { type CosiftError, refusalOf } from '../../errors.js';
import type { NativePages } from './binding.js';
import { unwrap } from './unwrap.js';

/** Divides the responses to searches: the page of each, or why it has none. */
export function pagesOf({
  bodies,
  pages,
}: NativePages): ({ body: Buffer; searchMs: number } | CosiftError)[] {
  let start = 0;
  return pages.map((outcome) => {
    try {
      const { end, totalMicros } = unwrap(outcome);
      const body = bodies.subarray(start, end);
      start = end;
      return { body, searchMs: totalMicros / 1000 };
    } catch (error) {
      return refusalOf(error);
    }
  });
}
