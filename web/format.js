const counts = new Intl.NumberFormat('en');
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const SPANS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const shorts = new Intl.NumberFormat('en', { maximumFractionDigits: 4, useGrouping: false });
const exponents = new Intl.NumberFormat('en', { maximumFractionDigits: 4, notation: 'scientific' });

export const count = (number) => counts.format(number);

/** `1 record`, `2 records`. */
export const many = (number, noun) => `${count(number)} ${number === 1 ? noun : `${noun}s`}`;

export function bytes(number) {
  let [value, unit] = [number, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit += 1) value /= 1000;
  return `${value.toFixed(value < 10 && unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

/** How long ago a time was: `3 days ago`. */
export function ago(time, now = Date.now()) {
  const seconds = (Date.parse(time) - now) / 1000;
  for (const [unit, span] of SPANS) {
    if (Math.abs(seconds) >= span) return relative.format(Math.round(seconds / span), unit);
  }
  return 'just now';
}

export function milliseconds(number) {
  return number < 10 ? `${number.toFixed(1)} ms` : `${count(Math.round(number))} ms`;
}

/** A number with at most four digits after the point. Very large and very small numbers have an exponent, as in `1E20`. */
export function short(number) {
  const size = Math.abs(number);
  return (size >= 1e15 || (size > 0 && size < 1e-3) ? exponents : shorts).format(number);
}
