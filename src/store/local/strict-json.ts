import type { CosiftError } from '../../errors.js';
import { native } from './binding.js';
import { errorOf } from './unwrap.js';

/**
 * Returns why bytes are not strict JSON; undefined when they are. Strict JSON is UTF-8 without duplicate keys and lone
 * surrogates, has numbers that a double holds, and is at most `maxDepth` arrays and objects deep.
 */
export function checkJson(body: Uint8Array, maxDepth: number): CosiftError | undefined {
  const failure = native().checkJson(body, maxDepth);
  return failure === null ? undefined : errorOf(failure);
}
