import { textOfValue } from './columns.js';

/** The value of points that stands for their score, where others have a column. */
export const SCORE = '@score';

export const GROUPS = 8;
export const STEPS = 7;

const MARGIN = 14;

/** The places of points on a picture, in pixels. Both directions have the same scale, so that distances can be compared. */
export function placesOf(points, width, height) {
  const [left, right] = range(points.map(({ x }) => x));
  const [bottom, top] = range(points.map(({ y }) => y));
  const scale = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (top - bottom));
  const factor = Number.isFinite(scale) ? scale : 0;
  return points.map(({ x, y }) => [
    width / 2 + (x - (left + right) / 2) * factor,
    height / 2 - (y - (bottom + top) / 2) * factor,
  ]);
}

function range(numbers) {
  return numbers.reduce(
    ([least, most], number) => [Math.min(least, number), Math.max(most, number)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

/** The index of the place nearest to a position, at most `within` pixels away; -1 if there is none. */
export function nearest(places, [x, y], within) {
  let found = -1;
  let least = within * within;
  for (const [at, place] of places.entries()) {
    const distance = (place[0] - x) ** 2 + (place[1] - y) ** 2;
    if (distance > least) continue;
    least = distance;
    found = at;
  }
  return found;
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * The place that a key leads to from another one: with an arrow the nearest in its direction, with Home the first, with End
 * the last, with Page Down and Page Up the next and the one before in the order of the results. -1 for any other key.
 */
export function neighbour(places, from, key) {
  const last = places.length - 1;
  const inOrder = { Home: 0, End: last, PageDown: Math.min(from + 1, last), PageUp: Math.max(from - 1, 0) };
  if (key in inOrder) return inOrder[key];
  if (!(key in DIRECTIONS)) return -1;
  if (from < 0) return 0;
  const [dx, dy] = DIRECTIONS[key];
  let found = from;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, place] of places.entries()) {
    const along = (place[0] - places[from][0]) * dx + (place[1] - places[from][1]) * dy;
    const across = Math.abs((place[0] - places[from][0]) * dy) + Math.abs((place[1] - places[from][1]) * dx);
    // Of those in the direction, the nearest; what is far to the side counts as farther.
    const distance = along + 2 * across;
    if (along <= 0 || distance >= least) continue;
    least = distance;
    found = at;
  }
  return found;
}

/** The value of a column of a point, the text of a list; undefined if it has none. A column may be called `toString`. */
export const cellOf = ({ data }, column) => {
  const value = Object.hasOwn(data, column) ? (data[column] ?? undefined) : undefined;
  return Array.isArray(value) ? textOfValue(value) : value;
};

/**
 * How points are coloured by a column, or by {@link SCORE}: numbers by steps from the least to the greatest, other values by
 * the most frequent ones.
 *
 * @returns {{ steps?: { least: number, greatest: number }, groups?: { value: any, count: number }[], colours: number[] }}
 * the number of the step or of the group of each point; -1 without one
 */
export function colouringOf(points, column) {
  const values = points.map((point) => (column === SCORE ? point.relevance_score : cellOf(point, column)));
  const counts = new Map();
  for (const value of values) {
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const distinct = [...counts.keys()];
  const isScale = distinct.length > (column === SCORE ? 1 : GROUPS);
  if (isScale && distinct.every((value) => typeof value === 'number')) {
    const [least, greatest] = range(distinct);
    const stepOf = (value) => Math.min(STEPS - 1, Math.floor(((value - least) / (greatest - least)) * STEPS));
    const colours = values.map((value) => (value === undefined ? -1 : stepOf(value)));
    return { steps: { least, greatest }, colours };
  }
  const groups = [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, GROUPS);
  const numbers = new Map(groups.map(({ value }, at) => [value, at]));
  return { groups, colours: values.map((value) => numbers.get(value) ?? -1) };
}
