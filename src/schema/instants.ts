const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DAY =
  '([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))' +
  `|${LEAP_YEAR}-02-29)`;
const HOUR_AND_MINUTE = '([01][0-9]|2[0-3]):[0-5][0-9]';

/**
 * A regular expression, for JavaScript and PostgreSQL, of the texts that the engine parses as times: an ISO 8601 date, or
 * a date and time with `Z` or an offset. Of the texts that it matches, the engine refuses those outside {@link INSTANTS}.
 */
export const TIME_PATTERN = `^${DAY}(T${HOUR_AND_MINUTE}(:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[-+]${HOUR_AND_MINUTE}))?$`;

/** Characters of the longest text that {@link TIME_PATTERN} matches. */
export const MAX_TIME_LENGTH = '2026-01-31T12:30:00.123456789+01:30'.length;

/** The first instant of the year 0000 and the last one of 9999, UTC, in nanoseconds since 1970. */
export const INSTANTS = {
  first: -62_167_219_200_000_000_000n,
  last: 253_402_300_799_999_999_999n,
} as const;

const TIME = new RegExp(TIME_PATTERN);

/** Nanoseconds since 1970 of a text that the engine parses as a time; undefined for another one. */
export function instantOf(text: string): bigint | undefined {
  if (!TIME.test(text)) return undefined;
  const [point = '', fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  const milliseconds = Date.parse(text.replace(point, ''));
  const instant = BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return instant >= INSTANTS.first && instant <= INSTANTS.last ? instant : undefined;
}
