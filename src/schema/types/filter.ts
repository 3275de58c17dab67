// Written by `npm run generate:types` from the schemas in src/schema. Do not edit.

import type { ColumnName, Data, ElementOf, NumberColumn, TextColumn } from '../columns.js';

type ScalarRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `equals`: The column has exactly this value, of the same type: the number 1 is not the string "1". Strings are case-sensitive.
   * - `not_equals`: The opposite of `equals`. It also holds for a record without the column.
   */
  operator: 'equals' | 'not_equals';
  /** The value to compare with. */
  value: Value;
};

type NumberRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `greater_than`: The column has a number greater than `value`.
   * - `less_than`: The column has a number less than `value`.
   * - `greater_than_or_equals`: The column has a number greater than `value`, or equal to it.
   * - `less_than_or_equals`: The column has a number less than `value`, or equal to it.
   */
  operator: 'greater_than' | 'less_than' | 'greater_than_or_equals' | 'less_than_or_equals';
  /** The number to compare with. */
  value: number;
};

type TextRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `contains`: The column has a string that contains `value`; case-sensitive.
   * - `not_contains`: The opposite of `contains`. It also holds for a record without the column, or with a value of another type.
   * - `starts_with`: The column has a string that starts with `value`; case-sensitive.
   * - `ends_with`: The column has a string that ends with `value`; case-sensitive.
   */
  operator: 'contains' | 'not_contains' | 'starts_with' | 'ends_with';
  /** The text to look for; case-sensitive. */
  value: string;
};

type EmptyRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `is_empty`: The record lacks the column, or its value is null, "" or an empty list.
   * - `is_not_empty`: The opposite of `is_empty`: the column has a value.
   */
  operator: 'is_empty' | 'is_not_empty';
};

type ListRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `in`: `equals` holds for one of the values.
   * - `not_in`: The opposite of `in`. It also holds for a record without the column.
   */
  operator: 'in' | 'not_in';
  /** The values to compare with. The lists of a filter have at most 10,000 values. 1 to 1000 items. */
  value: readonly Value[];
};

type TimeRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * - `before`: The column has a string that is an earlier time than `value`.
   * - `after`: The column has a string that is a later time than `value`.
   * - `on_or_before`: The column has a string that is an earlier time than `value`, or the same.
   * - `on_or_after`: The column has a string that is a later time than `value`, or the same.
   */
  operator: 'before' | 'after' | 'on_or_before' | 'on_or_after';
  /**
   * The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an
   * offset, with at most nine digits of a second.
   */
  value: string;
};

/**
 * Compares one column of a record. The operator determines the type of `value`. For a list, a rule
 * holds if it holds for one of its elements; a negative operator is the opposite of its positive
 * one.
 */
export type FilterRule<T = Data> =
  | EqualityRule<T>
  | NumberRule<NumberColumn<T>>
  | TextRule<TextColumn<T>>
  | EmptyRule<ColumnName<T>>
  | TimeRule<TextColumn<T>>;

/** Rules joined by a condition. */
export interface FilterGroup<T = Data> {
  /** `AND`: every rule has to hold. `OR`: at least one. Default: `AND`. */
  condition?: 'AND' | 'OR' | undefined;
  /** Comparisons and nested groups. At least 1 item. */
  rules: readonly Filter<T>[];
}

/** A rule, or a group of rules. */
export type Filter<T = Data> = FilterGroup<T> | FilterRule<T>;

// Intersections, because the compiler cannot resolve `Extract` in a function that is generic in the type of the records.
/** The rules that compare a column of `T` with values of the column's type, or of the elements of its lists. */
type EqualityRule<T = Data> = {
  [Column in ColumnName<T>]-?:
    | ScalarRule<Column, T[Column] & (string | number | boolean)>
    | ListRule<Column, T[Column] & (string | number | boolean)>
    | ScalarRule<Column, ElementOf<T[Column]>>
    | ListRule<Column, ElementOf<T[Column]>>;
}[ColumnName<T>];
