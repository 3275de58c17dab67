/** One line or set of points. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Drawn thick and on top. */
  readonly ours?: boolean;
  /** Points without a line between them. */
  readonly loose?: boolean;
}

/** The content of a chart. */
export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

/** An axis. `log` needs positive values. */
export interface Axis {
  readonly label: string;
  readonly log?: boolean;
}

const [WIDTH, HEIGHT] = [960, 520];
const FRAME = { left: 80, right: 290, top: 50, bottom: 60 };
const COLOURS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#7f7f7f',
  '#8c564b',
  '#17becf',
  '#bcbd22',
];

/** The chart as an SVG file. */
export function drawChart(chart: Chart): string {
  const series = chart.series
    .filter(({ points }) => points.length > 0)
    .toSorted((a, b) => Number(a.ours ?? false) - Number(b.ours ?? false));
  const points = series.flatMap((one) => one.points);
  const x = scaleOf(
    points.map(([value]) => value),
    chart.x,
    FRAME.left,
    WIDTH - FRAME.right,
  );
  const y = scaleOf(
    points.map(([, value]) => value),
    chart.y,
    HEIGHT - FRAME.bottom,
    FRAME.top,
  );
  const [right, bottom] = [WIDTH - FRAME.right, HEIGHT - FRAME.bottom];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(FRAME.left, 28, chart.title, 'font-size="17" font-weight="600"'),
    ...x.ticks.map((tick) => line(x.at(tick), FRAME.top, x.at(tick), bottom, '#e5e5e5')),
    ...y.ticks.map((tick) => line(FRAME.left, y.at(tick), right, y.at(tick), '#e5e5e5')),
    ...x.ticks.map((tick) => text(x.at(tick), bottom + 20, label(tick), 'text-anchor="middle"')),
    ...y.ticks.map((tick) => text(FRAME.left - 8, y.at(tick) + 4, label(tick), 'text-anchor="end"')),
    line(FRAME.left, bottom, right, bottom, '#444'),
    line(FRAME.left, FRAME.top, FRAME.left, bottom, '#444'),
    text((FRAME.left + right) / 2, HEIGHT - 14, chart.x.label, 'text-anchor="middle"'),
    text(
      0,
      0,
      chart.y.label,
      `text-anchor="middle" transform="translate(20 ${(FRAME.top + bottom) / 2}) rotate(-90)"`,
    ),
    ...series.flatMap((one, i) => drawSeries(one, x.at, y.at, colourOf(one, i))),
    ...series.toReversed().flatMap((one, i) => {
      const colour = colourOf(one, series.length - 1 - i);
      const top = FRAME.top + 10 + i * 21;
      return [
        `<rect x="${right + 22}" y="${top - 9}" width="12" height="12" fill="${colour}"/>`,
        text(right + 42, top + 2, one.name, one.ours ? 'font-weight="600"' : ''),
      ];
    }),
    '</svg>\n',
  ].join('\n');
}

function colourOf(series: Series, i: number): string {
  return series.ours ? '#111' : (COLOURS[i % COLOURS.length] as string);
}

function drawSeries(
  series: Series,
  x: (value: number) => number,
  y: (value: number) => number,
  colour: string,
): string[] {
  const places = series.points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`);
  const path = `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="${series.ours ? 3.5 : 1.8}"/>`;
  const dots = places.map((place) => {
    const [cx, cy] = place.split(',');
    return `<circle cx="${cx}" cy="${cy}" r="${series.ours ? 5 : 4}" fill="${colour}"><title>${escaped(series.name)}</title></circle>`;
  });
  return series.loose || places.length < 2 ? dots : [path, ...dots];
}

function scaleOf(
  values: readonly number[],
  axis: Axis,
  from: number,
  to: number,
): { at(value: number): number; ticks: number[] } {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (axis.log) {
    const [first, last] = [
      Math.floor(Math.log10(low)),
      Math.max(Math.floor(Math.log10(low)) + 1, Math.ceil(Math.log10(high))),
    ];
    const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
    return { at: (value) => from + ((Math.log10(value) - first) / (last - first)) * (to - from), ticks };
  }
  const step = niceStep((high - low || Math.abs(high) || 1) / 6);
  const [first, last] = [
    Math.floor(low / step),
    Math.max(Math.floor(low / step) + 1, Math.ceil(high / step)),
  ];
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  return { at: (value) => from + ((value / step - first) / (last - first)) * (to - from), ticks };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((step) => step * power >= rough) ?? 10);
}

function label(value: number): string {
  return value >= 1_000 ? value.toLocaleString('en') : String(Number(value.toPrecision(6)));
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}"/>`;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="#222" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
