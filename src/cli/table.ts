import stringWidth from 'string-width';
import { printable } from './failure.js';

const GAP = '  ';
const MAX_COLUMN_WIDTH = 32;
const MIN_COLUMN_WIDTH = 8;

const GRAPHEMES = new Intl.Segmenter();

/**
 * Lines up rows under a header in at most `width` terminal cells. Columns that do not fit are left out from the right;
 * the last column that has at least 8 cells is shortened.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const cells = [header, ...rows].map((row) => row.map(printable));
  const widths: number[] = [];
  let left = width;
  for (const at of header.keys()) {
    const wanted = Math.max(...cells.map((row) => stringWidth(row[at] ?? '')));
    const isLast = at === header.length - 1;
    const given = Math.min(wanted, isLast ? left : Math.min(MAX_COLUMN_WIDTH, left));
    if (given < Math.min(wanted, MIN_COLUMN_WIDTH)) break;
    widths.push(given);
    left -= given + GAP.length;
  }
  return cells
    .map((row) =>
      widths
        .map((columnWidth, at) => fitted(row[at] ?? '', columnWidth))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** Returns the text shortened or padded to a width in terminal cells. */
function fitted(text: string, width: number): string {
  const missing = width - stringWidth(text);
  if (missing >= 0) return text + ' '.repeat(missing);
  let start = '';
  let used = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    const segmentWidth = stringWidth(segment);
    // One cell is for the ellipsis.
    if (used + segmentWidth > width - 1) break;
    start += segment;
    used += segmentWidth;
  }
  return `${start}…${' '.repeat(width - 1 - used)}`;
}
