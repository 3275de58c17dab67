import { isPlain } from '../schema/plain.js';

/**
 * Copies the objects and arrays of an argument, so that the caller may change them while the call runs. What JSON does
 * not represent by its members stays the same object; typed arrays are copied.
 */
export function copied<T>(value: T): T {
  return copyOf(value, new Map()) as T;
}

/** `copies` has the copies so far: an object may be in several places, or contain itself. */
function copyOf(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const earlier = copies.get(value);
  if (earlier !== undefined) return earlier;
  if (value instanceof Float32Array || value instanceof Float64Array) return value.slice();
  if (Array.isArray(value)) {
    const copy: unknown[] = value.slice();
    copies.set(value, copy);
    // A loop without a callback: a vector has thousands of values.
    for (let at = 0; at < copy.length; at++) {
      if (typeof copy[at] === 'object') copy[at] = copyOf(copy[at], copies);
    }
    return copy;
  }
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  copies.set(value, copy);
  for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name], copies);
  return copy;
}
