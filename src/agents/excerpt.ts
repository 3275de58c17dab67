/** The number of characters of a value as JSON. */
export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** Returns at most `letters` characters of a text. A surrogate pair is not divided, so that parts join to the text. */
export function excerpt(text: string, start: number, letters: number): string {
  const end = start + letters;
  const isDivided = end < text.length && (text.codePointAt(end - 1) as number) > 0xffff;
  return text.slice(start, isDivided ? end - 1 : end).toWellFormed();
}

/** Returns a text, or as much of its beginning as has `size` characters as JSON. */
export function shortened(text: string, size: number): string {
  let shown = text;
  for (let letters = size - 3; sizeOf(shown) > size; letters = Math.floor(letters / 2)) {
    shown = `${excerpt(text, 0, letters)}…`;
  }
  return shown;
}
