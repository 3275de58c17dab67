import { jsonDepth, LIMITS } from '../schema/limits.js';

const MAX_DEPTH = jsonDepth(LIMITS);

/**
 * Copies the objects and arrays of an argument, so that the caller may change them while the call runs. Typed arrays are
 * copied, too; an object of any other class stays the same.
 */
export function copied<T>(value: T): T {
  return copyOf(value, new Map(), 0) as T;
}

function isTypedArray(value: object): value is Float32Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** `Buffer` has a method of this name that copies nothing. */
function sliceOf(value: Float32Array): unknown {
  return value instanceof Uint8Array ? new Uint8Array(value) : value.slice();
}

/** Whether an object has no other members than its own. A copy of one of a class would lack those of the class. */
function isLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** `copies` has the copies so far: an object may be in several places, or contain itself. */
function copyOf(value: unknown, copies: Map<object, unknown>, depth: number): unknown {
  // What is nested deeper is refused.
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  const earlier = copies.get(value);
  if (earlier !== undefined) return earlier;
  // A view of memory that was transferred to another thread has no values, and cannot be copied.
  if (isTypedArray(value)) return value.length === 0 ? value : sliceOf(value);
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
  if (!isLiteral(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  copies.set(value, copy);
  for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name], copies, depth + 1);
  return copy;
}
