import type { FilterGroup, FilterRule } from '../../src/schema/index.js';

type Cell = string | number | boolean | null;
type Value = Exclude<Cell, null> | undefined;

/**
 * Returns whether a value of a column satisfies a rule; null stands for no value. This definition of the twelve operators
 * is independent of any engine: tests and benchmarks compare engines with it.
 */
export function ruleTest(operator: FilterRule['operator'], value: Value): (cell: Cell) => boolean {
  const number = (compare: (cell: number, value: number) => boolean) => (cell: Cell) =>
    typeof cell === 'number' && typeof value === 'number' && compare(cell, value);
  const text = (compare: (cell: string, value: string) => boolean) => (cell: Cell) =>
    typeof cell === 'string' && typeof value === 'string' && compare(cell, value);
  switch (operator) {
    case 'equals':
      return (cell) => cell === value;
    case 'not_equals':
      return (cell) => cell !== value;
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
    case 'not_contains': {
      const contains = ruleTest('contains', value);
      return (cell) => !contains(cell);
    }
    case 'starts_with':
      return text((cell, value) => cell.startsWith(value));
    case 'ends_with':
      return text((cell, value) => cell.endsWith(value));
    case 'is_empty':
      return (cell) => cell === null || cell === '';
    case 'is_not_empty':
      return (cell) => cell !== null && cell !== '';
  }
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
