/** A system of a dot chart: a row, with one value for each mark or undefined where there is none. */
export interface DotRow {
  readonly name: string;
  /** A remark behind the name. */
  readonly note?: string;
  readonly values: readonly (number | undefined)[];
  /** Drawn in the colour of the product. */
  readonly ours?: boolean;
}

/** The content of a dot chart: a row a system, a mark a request, on a logarithmic axis. */
export interface DotChart {
  readonly title: string;
  readonly subtitle: string;
  readonly unit: string;
  readonly marks: readonly string[];
  readonly rows: readonly DotRow[];
}

const WIDTH = 860;
const [LEFT, RIGHT, TOP, ROW, BOTTOM] = [300, 52, 118, 34, 52];
const SHAPES = [
  (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="6.5"/>`,
  (x: number, y: number) => `<rect x="${x - 6}" y="${y - 6}" width="12" height="12"/>`,
  (x: number, y: number) => `<path d="M${x} ${y - 7.5} ${x + 7.5} ${y + 6} ${x - 7.5} ${y + 6}Z"/>`,
];

/** Returns the chart as an SVG file that follows the reader's light or dark colours. */
export function drawDotChart({ title, subtitle, unit, marks, rows }: DotChart): string {
  const values = rows.flatMap((row) => row.values.filter((value) => value !== undefined));
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  const x = (value: number) =>
    round(LEFT + ((Math.log10(value) - first) / (last - first)) * (WIDTH - LEFT - RIGHT));
  const bottom = TOP + rows.length * ROW;
  const height = bottom + BOTTOM;
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="14" role="img" aria-label="${escaped(`${title}. ${subtitle}`)}">`,
    '<style>',
    '  .ground { fill: #ffffff } text { fill: #1f2328 } .quiet { fill: #59636e } .grid { stroke: #d1d9e0 }',
    '  .peer { fill: #818b98 } .ours { fill: #0969da } text.ours { fill: #0969da; font-weight: 600 }',
    '  @media (prefers-color-scheme: dark) {',
    '    .ground { fill: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }',
    '    .peer { fill: #9198a1 } .ours { fill: #4493f8 } text.ours { fill: #4493f8 }',
    '  }',
    '</style>',
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="8"/>`,
    `<text x="24" y="34" font-size="18" font-weight="600">${escaped(title)}</text>`,
    `<text x="24" y="57" class="quiet">${escaped(subtitle)}</text>`,
    ...legend(marks),
    ...ticks.flatMap((tick) => [
      `<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${TOP}" y2="${bottom}"/>`,
      `<text class="quiet" x="${x(tick)}" y="${bottom + 22}" text-anchor="middle">${tick.toLocaleString('en')} ${unit}</text>`,
    ]),
    ...rows.flatMap((row, i) => drawRow(row, x, TOP + (i + 0.5) * ROW)),
    '</svg>\n',
  ].join('\n');
}

function legend(marks: readonly string[]): string[] {
  let x = LEFT;
  return marks.map((mark, i) => {
    const at = x;
    x += 34 + mark.length * 7.6;
    return `<g class="peer">${SHAPES[i]?.(at + 6, 88)}</g><text x="${at + 20}" y="93">${escaped(mark)}</text>`;
  });
}

function drawRow(row: DotRow, x: (value: number) => number, y: number): string[] {
  const colour = row.ours ? 'ours' : 'peer';
  const note = row.note ? ` <tspan class="quiet">${escaped(row.note)}</tspan>` : '';
  const known = row.values.filter((value) => value !== undefined);
  return [
    `<text class="${row.ours ? 'ours' : ''}" x="24" y="${y + 5}">${escaped(row.name)}${note}</text>`,
    `<line class="grid" x1="${x(Math.min(...known))}" x2="${x(Math.max(...known))}" y1="${y}" y2="${y}" stroke-width="2"/>`,
    ...row.values.flatMap((value, i) =>
      value === undefined ? [] : [`<g class="${colour}">${SHAPES[i]?.(x(value), y)}</g>`],
    ),
  ];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
