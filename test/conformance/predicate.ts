import type { Data, FilterGroup, FilterRule } from '../../src/schema/index.js';

/** Returns whether a record satisfies a filter. It defines the twelve operators. */
export function satisfies(data: Data, node: FilterGroup | FilterRule): boolean {
  if ('rules' in node) {
    const holds = (rule: FilterGroup | FilterRule) => satisfies(data, rule);
    return node.condition === 'OR' ? node.rules.some(holds) : node.rules.every(holds);
  }
  const { column, operator } = node;
  const held = Object.hasOwn(data, column) ? (data[column] ?? null) : null;
  const value = 'value' in node ? node.value : undefined;
  const number = (compare: (held: number, value: number) => boolean) =>
    typeof held === 'number' && typeof value === 'number' && compare(held, value);
  const text = (compare: (held: string, value: string) => boolean) =>
    typeof held === 'string' && typeof value === 'string' && compare(held, value);
  switch (operator) {
    case 'equals':
      return held === value;
    case 'not_equals':
      return held !== value;
    case 'greater_than':
      return number((held, value) => held > value);
    case 'less_than':
      return number((held, value) => held < value);
    case 'greater_than_or_equals':
      return number((held, value) => held >= value);
    case 'less_than_or_equals':
      return number((held, value) => held <= value);
    case 'contains':
      return text((held, value) => held.includes(value));
    case 'not_contains':
      return !text((held, value) => held.includes(value));
    case 'starts_with':
      return text((held, value) => held.startsWith(value));
    case 'ends_with':
      return text((held, value) => held.endsWith(value));
    case 'is_empty':
      return held === null || held === '';
    case 'is_not_empty':
      return !(held === null || held === '');
  }
}
