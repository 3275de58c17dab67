import stringWidth from 'string-width';

/** How much of the filter is shown on each side of the place, in characters. */
const CONTEXT = 36;

/** A filter that cannot be read. With a place, the message shows the part of `text` around the index `at`, with a caret below. */
export class WhereError extends Error {
  constructor(reason: string, place?: { text: string; at: number }) {
    super(oneLine(reason) + (place === undefined ? '' : shownPlace(place)));
  }
}

function shownPlace({ text, at }: { text: string; at: number }): string {
  const from = at <= CONTEXT ? 0 : at - CONTEXT;
  const to = at + CONTEXT;
  const before = (from > 0 ? '…' : '') + oneLine(text.slice(from, at));
  const after = oneLine(text.slice(at, to)) + (to < text.length ? '…' : '');
  return `\n  ${before}${after}\n  ${' '.repeat(stringWidth(before))}^`;
}

/** Replaces every control character by one space: a tab or a line break would move the caret to another place. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
