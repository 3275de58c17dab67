import type { FilterGroup, FilterRule } from '../../src/schema/index.js';

type Scalar = string | number | boolean;
type Cell = Scalar | null | readonly Scalar[];
type Value = Scalar | readonly Scalar[] | undefined;

/**
 * Returns whether a value of a column satisfies a rule; null stands for no value. This definition of the operators
 * is independent of any engine: tests and benchmarks compare engines with it.
 */
export function ruleTest(operator: FilterRule['operator'], value: Value): (cell: Cell) => boolean {
  const [positive, isNegative] = positiveOf(operator);
  const test = scalarTest(positive, value);
  const holds = (cell: Cell) => {
    if (cell === null || typeof cell !== 'object') return test(cell);
    return (positive === 'is_empty' && cell.length === 0) || cell.some(test);
  };
  return isNegative ? (cell) => !holds(cell) : holds;
}

type NegativeOperator = 'not_equals' | 'not_contains' | 'is_not_empty' | 'not_in';
type PositiveOperator = Exclude<FilterRule['operator'], NegativeOperator>;

/** The positive operator, and whether the given one is its complement. */
function positiveOf(operator: FilterRule['operator']): [PositiveOperator, boolean] {
  switch (operator) {
    case 'not_equals':
      return ['equals', true];
    case 'not_contains':
      return ['contains', true];
    case 'is_not_empty':
      return ['is_empty', true];
    case 'not_in':
      return ['in', true];
    default:
      return [operator, false];
  }
}

function scalarTest(operator: PositiveOperator, value: Value): (cell: Scalar | null) => boolean {
  const number = (compare: (cell: number, value: number) => boolean) => (cell: Scalar | null) =>
    typeof cell === 'number' && typeof value === 'number' && compare(cell, value);
  const text = (compare: (cell: string, value: string) => boolean) => (cell: Scalar | null) =>
    typeof cell === 'string' && typeof value === 'string' && compare(cell, value);
  const time = (compare: (cell: bigint, value: bigint) => boolean) => {
    const wanted = nanosecondsOf(String(value)) as bigint;
    return (cell: Scalar | null) => {
      const found = typeof cell === 'string' ? nanosecondsOf(cell) : undefined;
      return found !== undefined && compare(found, wanted);
    };
  };
  switch (operator) {
    case 'equals':
      return (cell) => cell === value;
    case 'greater_than':
      return number((cell, value) => cell > value);
    case 'less_than':
      return number((cell, value) => cell < value);
    case 'greater_than_or_equals':
      return number((cell, value) => cell >= value);
    case 'less_than_or_equals':
      return number((cell, value) => cell <= value);
    case 'contains':
      return text((cell, value) => cell.includes(value));
    case 'starts_with':
      return text((cell, value) => cell.startsWith(value));
    case 'ends_with':
      return text((cell, value) => cell.endsWith(value));
    case 'is_empty':
      return (cell) => cell === null || cell === '';
    case 'in':
      return (cell) => [value].flat().includes(cell as Scalar);
    case 'before':
      return time((cell, value) => cell < value);
    case 'after':
      return time((cell, value) => cell > value);
    case 'on_or_before':
      return time((cell, value) => cell <= value);
    case 'on_or_after':
      return time((cell, value) => cell >= value);
  }
}

const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([-+])([01]\d|2[0-3]):([0-5]\d)))?$/;

/** Nanoseconds since 1970 of an ISO 8601 date or time; undefined for another text. */
export function nanosecondsOf(text: string): bigint | undefined {
  const [, day, ...parts] = TIME.exec(text) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(`${day}T00:00:00Z`);
  // JavaScript takes the 30th of February for the 2nd of March.
  if (Number.isNaN(date.valueOf()) || !date.toISOString().startsWith(day)) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  const [, , , fraction = '', sign = '+', offsetHours = 0, offsetMinutes = 0] = parts;
  const east = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const milliseconds = date.valueOf() + ((hours * 60 + minutes - east) * 60 + seconds) * 1000;
  if (milliseconds < Date.parse('0000-01-01') || milliseconds >= Date.UTC(10_000, 0)) return undefined;
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Returns whether a record satisfies a filter. */
export function satisfies(data: Readonly<Record<string, Cell>>, node: FilterGroup | FilterRule): boolean {
  if ('rules' in node) {
    const holds = (rule: FilterGroup | FilterRule) => satisfies(data, rule);
    return node.condition === 'OR' ? node.rules.some(holds) : node.rules.every(holds);
  }
  const { column, operator } = node;
  // Columns may have names such as `constructor`.
  const cell = Object.hasOwn(data, column) ? (data[column] ?? null) : null;
  return ruleTest(operator, 'value' in node ? node.value : undefined)(cell);
}
