import { INSTANTS, instantOf, MAX_TIME_LENGTH, TIME_PATTERN } from '../../schema/instants.js';
import type { Values } from './sql.js';

/** Nanoseconds since 1970 of a text that is a time; NULL for another one. The years may be beyond those of times. */
export function instantSql(text: string): string {
  const integer = (from: number, length: number) => `substr(${text}, ${from}, ${length})::integer`;
  // The calendar repeats every 400 years, and PostgreSQL has no year 0.
  const days = `(make_date(${integer(1, 4)} + 400, ${integer(6, 2)}, ${integer(9, 2)}) - date '2370-01-01')`;
  const second = `CASE WHEN substr(${text}, 17, 1) = ':' THEN ${integer(18, 2)} ELSE 0 END`;
  const offset = `CASE WHEN right(${text}, 1) = 'Z' THEN 0
    ELSE left(right(${text}, 6), 3)::integer * 60 + (left(right(${text}, 6), 1) || right(${text}, 2))::integer END`;
  const seconds = `${days}::bigint * 86400 + CASE WHEN length(${text}) = 10 THEN 0
    ELSE (${integer(12, 2)} * 60 + ${integer(15, 2)} - ${offset}) * 60 + ${second} END`;
  const fraction = `rpad(coalesce(substring(${text} from '\\.([0-9]+)'), ''), 9, '0')::numeric`;
  // The regular expression converts the whole text before the match.
  const isTime = `octet_length(${text}) <= ${MAX_TIME_LENGTH} AND ${text} ~ '${TIME_PATTERN}'`;
  return `CASE WHEN ${isTime} THEN (${seconds})::numeric * 1000000000 + ${fraction} END`;
}

/** The range of the instants that a rule accepts. The engine has accepted `time`. */
export function instantsSql(
  operator: 'before' | 'after' | 'on_or_before' | 'on_or_after',
  time: string,
  values: Values,
): string {
  const { first, last } = INSTANTS;
  const instant = instantOf(time);
  const range = {
    before: `[${first},${instant})`,
    after: `(${instant},${last}]`,
    on_or_before: `[${first},${instant}]`,
    on_or_after: `[${instant},${last}]`,
  };
  return `${values.bind(range[operator])}::numrange`;
}
