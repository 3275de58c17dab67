const DAY_MS = 86_400_000;

/** Units of a second, and their digits after the decimal point. */
export const UNITS = {
  MILLIS: { perSecond: 1e3, digits: 3 },
  MICROS: { perSecond: 1e6, digits: 6 },
  NANOS: { perSecond: 1e9, digits: 9 },
} as const;

export type Unit = (typeof UNITS)[keyof typeof UNITS];

/** Writes times as ISO 8601 without a zone, with the digits of a second that are not 0. */
export class TimeWriter {
  /** The last day: most columns have the same day many times. */
  #day = Number.NaN;
  #text: string | undefined;

  /** Returns a day that is counted from 1970-01-01; undefined outside of the years that can be written. */
  date(day: number): string | undefined {
    if (day === this.#day) return this.#text;
    const date = new Date(day * DAY_MS);
    this.#day = day;
    this.#text = Number.isNaN(date.getTime())
      ? undefined
      : date.toISOString().slice(0, -'T00:00:00.000Z'.length);
    return this.#text;
  }

  /** Returns a time that is counted in units from 1970-01-01T00:00:00. */
  instant(value: number | bigint, unit: Unit): string | undefined {
    const perDay = 86_400 * unit.perSecond;
    let day: number;
    let rest: number;
    if (typeof value === 'number') {
      day = Math.floor(value / perDay);
      rest = value - day * perDay;
      // The quotient of two large numbers may be rounded up to the next day.
      if (rest < 0) {
        day -= 1;
        rest += perDay;
      }
    } else {
      const divisor = BigInt(perDay);
      const remainder = ((value % divisor) + divisor) % divisor;
      day = Number((value - remainder) / divisor);
      rest = Number(remainder);
    }
    const date = this.date(day);
    return date && `${date}T${clock(rest, unit)}`;
  }
}

/** Returns a time of a day that is counted in units from midnight. */
export function clock(value: number, { perSecond, digits }: Unit): string {
  const seconds = Math.floor(value / perSecond);
  const fraction = value - seconds * perSecond;
  const text = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`;
}

/** Returns a duration of ISO 8601, such as `P14M3DT4.5S`. */
export function interval(months: number, days: number, milliseconds: number): string {
  const date = `${months === 0 ? '' : `${months}M`}${days === 0 ? '' : `${days}D`}`;
  const time = milliseconds === 0 ? '' : `T${decimal(BigInt(milliseconds), 3).replace(/\.?0+$/, '')}S`;
  return date === '' && time === '' ? 'PT0S' : `P${date}${time}`;
}

/** Returns the decimal number `value / 10^scale` with all digits of its scale. */
export function decimal(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
