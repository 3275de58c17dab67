/** The word of `known` that `given` is probably a misspelling of; undefined if none is close enough. */
export function suggest(given: string, known: readonly string[]): string | undefined {
  // A word this long is not a misspelling of a known word.
  if (given.length > 64) return undefined;
  const folded = given.toLowerCase().replaceAll(/[-\s]/g, '_');
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const word of known) {
    const distance = editDistance(folded, word.toLowerCase());
    if (distance < bestDistance) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns `; did you mean "…"?` with the word that was probably meant; '' if none is close enough. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = suggest(given, known);
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}

/** Restricted Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of adjacent characters. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let min = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        min = Math.min(min, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(min);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
