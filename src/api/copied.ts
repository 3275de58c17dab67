import { jsonDepth, LIMITS } from '../schema/limits.js';
import { isPlain } from '../schema/plain.js';

const MAX_DEPTH = jsonDepth(LIMITS);

/**
 * Copies the objects and arrays of an argument, so that the caller may change them while the call runs. What JSON does
 * not represent by its members stays the same object; typed arrays are copied.
 */
export function copied<T>(value: T): T {
  return copyOf(value, new Map(), 0) as T;
}

function isTypedArray(value: object): value is Float32Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** `copies` has the copies so far: an object may be in several places, or contain itself. */
function copyOf(value: unknown, copies: Map<object, unknown>, depth: number): unknown {
  // What is nested deeper is refused.
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  const earlier = copies.get(value);
  if (earlier !== undefined) return earlier;
  // A view of memory that was transferred to another thread has no values, and cannot be copied.
  if (isTypedArray(value)) return value.length === 0 ? value : value.slice();
  if (Array.isArray(value)) {
    const copy: unknown[] = value.slice();
    // A vector has thousands of values.
    if (typeof copy[0] === 'number') return copy;
    copies.set(value, copy);
    for (let at = 0; at < copy.length; at++) {
      if (typeof copy[at] === 'object') copy[at] = copyOf(copy[at], copies, depth + 1);
    }
    return copy;
  }
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  copies.set(value, copy);
  for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name], copies, depth + 1);
  return copy;
}
