/** Returns the values of a typed array. A view of memory that was transferred to another thread has none. */
export function valuesOf(view: ArrayBufferView): number[] {
  const values = view as Float32Array;
  // Such a view cannot be iterated.
  return values.length === 0 ? [] : Array.from(values);
}
