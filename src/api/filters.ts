import type { Filter } from '../schema/public-types.js';

/** A rule, or a group of rules, for records of any type. The call that takes it checks it against its records. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` stands for every type of record
type AnyFilter = Filter<any>;

// Not exported: where a program exports a rule by inference, its declaration file has the members instead of the name.
/** A rule that compares a column with a value. */
type Rule<Column, Operator, Value> = {
  /** Name of the column. */
  column: Column;
  /** How the column is compared. */
  operator: Operator;
  /** The value to compare with. */
  value: Value;
};

/** A group of rules that {@link and} or {@link or} made. */
export interface RuleGroup<Rules extends readonly AnyFilter[] = readonly Filter[]> {
  /** `AND`: every rule has to hold. `OR`: at least one. */
  condition: 'AND' | 'OR';
  /** Comparisons and nested groups. */
  rules: Rules;
}

/** At least one rule, or a list of unknown length: a group without rules is refused. */
type Some<Rules extends readonly AnyFilter[]> = Rules &
  (Rules extends readonly [] ? readonly [never] : unknown);

/**
 * Every one of the rules has to hold.
 *
 * @example
 * ```ts
 * await facts.search('a tall tower', { filter: and(equals('country', 'France'), greaterThan('height_m', 300)) });
 * ```
 */
export function and<Rules extends readonly AnyFilter[]>(...rules: Some<Rules>): RuleGroup<Rules> {
  return { condition: 'AND', rules };
}

/**
 * At least one of the rules has to hold.
 *
 * @example
 * ```ts
 * await facts.query({ filter: or(equals('country', 'France'), isEmpty('country')) });
 * ```
 */
export function or<Rules extends readonly AnyFilter[]>(...rules: Some<Rules>): RuleGroup<Rules> {
  return { condition: 'OR', rules };
}

/** The column has exactly this value, of the same type: the number 1 is not the string "1". */
export function equals<Column extends string, Value extends string | number | boolean>(
  column: Column,
  value: Value,
): Rule<Column, 'equals', Value> {
  return { column, operator: 'equals', value };
}

/** The opposite of {@link equals}. It also holds for a record without the column. */
export function notEquals<Column extends string, Value extends string | number | boolean>(
  column: Column,
  value: Value,
): Rule<Column, 'not_equals', Value> {
  return { column, operator: 'not_equals', value };
}

/**
 * The column has exactly one of these values.
 *
 * @example
 * ```ts
 * await facts.query({ filter: isIn('country', ['France', 'Italy']) });
 * ```
 */
export function isIn<Column extends string, const Value extends string | number | boolean>(
  column: Column,
  values: readonly Value[],
): Rule<Column, 'in', readonly Value[]> {
  return { column, operator: 'in', value: values };
}

/** The opposite of {@link isIn}. It also holds for a record without the column. */
export function isNotIn<Column extends string, const Value extends string | number | boolean>(
  column: Column,
  values: readonly Value[],
): Rule<Column, 'not_in', readonly Value[]> {
  return { column, operator: 'not_in', value: values };
}

/** The column has a number greater than `value`. */
export function greaterThan<Column extends string>(
  column: Column,
  value: number,
): Rule<Column, 'greater_than', number> {
  return { column, operator: 'greater_than', value };
}

/** The column has a number less than `value`. */
export function lessThan<Column extends string>(
  column: Column,
  value: number,
): Rule<Column, 'less_than', number> {
  return { column, operator: 'less_than', value };
}

/** The column has a number greater than `value`, or equal to it. */
export function greaterThanOrEquals<Column extends string>(
  column: Column,
  value: number,
): Rule<Column, 'greater_than_or_equals', number> {
  return { column, operator: 'greater_than_or_equals', value };
}

/** The column has a number less than `value`, or equal to it. */
export function lessThanOrEquals<Column extends string>(
  column: Column,
  value: number,
): Rule<Column, 'less_than_or_equals', number> {
  return { column, operator: 'less_than_or_equals', value };
}

/** The column has a string that contains `value`; case-sensitive. */
export function contains<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'contains', string> {
  return { column, operator: 'contains', value };
}

/** The opposite of {@link contains}. It also holds for a record without the column. */
export function notContains<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'not_contains', string> {
  return { column, operator: 'not_contains', value };
}

/** The column has a string that starts with `value`; case-sensitive. */
export function startsWith<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'starts_with', string> {
  return { column, operator: 'starts_with', value };
}

/** The column has a string that ends with `value`; case-sensitive. */
export function endsWith<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'ends_with', string> {
  return { column, operator: 'ends_with', value };
}

/**
 * The column has a string that is an earlier time: a date, or a date and time with `Z` or an offset.
 *
 * @example
 * ```ts
 * await facts.query({ filter: and(onOrAfter('opened', '2026-01-01'), before('opened', '2026-02-01')) });
 * ```
 */
export function before<Column extends string>(column: Column, value: string): Rule<Column, 'before', string> {
  return { column, operator: 'before', value };
}

/** The column has a string that is a later time; see {@link before}. */
export function after<Column extends string>(column: Column, value: string): Rule<Column, 'after', string> {
  return { column, operator: 'after', value };
}

/** The column has a string that is an earlier time, or the same; see {@link before}. */
export function onOrBefore<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'on_or_before', string> {
  return { column, operator: 'on_or_before', value };
}

/** The column has a string that is a later time, or the same; see {@link before}. */
export function onOrAfter<Column extends string>(
  column: Column,
  value: string,
): Rule<Column, 'on_or_after', string> {
  return { column, operator: 'on_or_after', value };
}

/** The record lacks the column, or its value is null or "". */
export function isEmpty<Column extends string>(column: Column): { column: Column; operator: 'is_empty' } {
  return { column, operator: 'is_empty' };
}

/** The opposite of {@link isEmpty}: the column has a value. */
export function isNotEmpty<Column extends string>(
  column: Column,
): { column: Column; operator: 'is_not_empty' } {
  return { column, operator: 'is_not_empty' };
}
