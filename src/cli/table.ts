const GAP = '  ';
const WIDEST = 32;
const NARROWEST = 8;

/**
 * Lines up rows under a header in at most `width` characters. Columns that do not fit are left out from the
 * right, but for the last one that has room to be shortened.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  // Control characters of stored text must not reach the terminal.
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}+/gu, ' ')));
  const widths: number[] = [];
  let left = width;
  for (const at of header.keys()) {
    const wanted = Math.max(...cells.map((row) => [...(row[at] ?? '')].length));
    const last = at === header.length - 1;
    const given = Math.min(wanted, last ? left : Math.min(WIDEST, left));
    if (given < Math.min(wanted, NARROWEST)) break;
    widths.push(given);
    left -= given + GAP.length;
  }
  return cells
    .map((row) =>
      widths
        .map((columnWidth, at) => shorten(row[at] ?? '', columnWidth))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

function shorten(text: string, width: number): string {
  const letters = [...text];
  if (letters.length > width) return `${letters.slice(0, width - 1).join('')}…`;
  return text + ' '.repeat(width - letters.length);
}
