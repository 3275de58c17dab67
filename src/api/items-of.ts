/**
 * Returns the items of a call. `begin` runs at once, because the caller may change the arguments before it asks for the
 * first item. What it throws is the failure of the first item.
 */
export function itemsOf<T, End>(
  begin: () => AsyncGenerator<T, End, undefined>,
): AsyncGenerator<T, End, undefined> {
  try {
    return begin();
  } catch (error) {
    return failing(error);
  }
}

// biome-ignore lint/correctness/useYield: it has no items
async function* failing(error: unknown): AsyncGenerator<never, never, undefined> {
  throw error;
}
