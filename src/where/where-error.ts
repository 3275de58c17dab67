import { eastAsianWidth } from 'get-east-asian-width';

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
  return `\n  ${before}${after}\n  ${' '.repeat(cellsOf(before))}^`;
}

/** Replaces every control character by one space: a tab or a line break would move the caret to another place. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** Characters that combine with the one before them, or that are not shown. */
const WITHOUT_CELL = /[\p{M}\p{Cf}]/gu;

/** The cells of a terminal that a text takes. Emoji of several characters, which would need much data, are counted as their parts. */
function cellsOf(text: string): number {
  const shown = text.replaceAll(WITHOUT_CELL, '');
  return [...shown].reduce((cells, one) => cells + eastAsianWidth(one.codePointAt(0)!), 0);
}
