// Written by `npm run generate:types` from the schemas in src/schema. Do not edit.

import type { ColumnName, Data, NumberColumn, Operand, TextColumn } from '../columns.js';

/**
 * The column has exactly this value, of the same type: the number 1 is not the string "1". Strings
 * are case-sensitive.
 */
type EqualsRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * The column has exactly this value, of the same type: the number 1 is not the string "1". Strings
   * are case-sensitive.
   */
  operator: 'equals';
  /** The value to compare with. */
  value: Value;
};

/** The opposite of `equals`. It also holds for a record without the column. */
type NotEqualsRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The opposite of `equals`. It also holds for a record without the column. */
  operator: 'not_equals';
  /** The value to compare with. */
  value: Value;
};

/** The column has a number greater than `value`. */
type GreaterThanRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a number greater than `value`. */
  operator: 'greater_than';
  /** The number to compare with. */
  value: number;
};

/** The column has a number less than `value`. */
type LessThanRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a number less than `value`. */
  operator: 'less_than';
  /** The number to compare with. */
  value: number;
};

/** The column has a number greater than `value`, or equal to it. */
type GreaterThanOrEqualsRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a number greater than `value`, or equal to it. */
  operator: 'greater_than_or_equals';
  /** The number to compare with. */
  value: number;
};

/** The column has a number less than `value`, or equal to it. */
type LessThanOrEqualsRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a number less than `value`, or equal to it. */
  operator: 'less_than_or_equals';
  /** The number to compare with. */
  value: number;
};

/** The column has a string that contains `value`; case-sensitive. */
type ContainsRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that contains `value`; case-sensitive. */
  operator: 'contains';
  /** The text to look for; case-sensitive. */
  value: string;
};

/**
 * The opposite of `contains`. It also holds for a record without the column, or with a value of
 * another type.
 */
type NotContainsRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /**
   * The opposite of `contains`. It also holds for a record without the column, or with a value of
   * another type.
   */
  operator: 'not_contains';
  /** The text to look for; case-sensitive. */
  value: string;
};

/** The column has a string that starts with `value`; case-sensitive. */
type StartsWithRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that starts with `value`; case-sensitive. */
  operator: 'starts_with';
  /** The text to look for; case-sensitive. */
  value: string;
};

/** The column has a string that ends with `value`; case-sensitive. */
type EndsWithRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that ends with `value`; case-sensitive. */
  operator: 'ends_with';
  /** The text to look for; case-sensitive. */
  value: string;
};

/** The record lacks the column, or its value is null or "". */
type IsEmptyRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The record lacks the column, or its value is null or "". */
  operator: 'is_empty';
};

/** The opposite of `is_empty`: the column has a value. */
type IsNotEmptyRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The opposite of `is_empty`: the column has a value. */
  operator: 'is_not_empty';
};

/** `equals` holds for one of the values. */
type InRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** `equals` holds for one of the values. */
  operator: 'in';
  /** The values to compare with. The lists of a filter have at most 10,000 values. 1 to 1000 items. */
  value: readonly Value[];
};

/** The opposite of `in`. It also holds for a record without the column. */
type NotInRule<
  Column extends string = string,
  Value extends string | number | boolean = string | number | boolean,
> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The opposite of `in`. It also holds for a record without the column. */
  operator: 'not_in';
  /** The values to compare with. The lists of a filter have at most 10,000 values. 1 to 1000 items. */
  value: readonly Value[];
};

/** The column has a string that is an earlier time than `value`. */
type BeforeRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that is an earlier time than `value`. */
  operator: 'before';
  /**
   * The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an
   * offset, with at most nine digits of a second.
   */
  value: string;
};

/** The column has a string that is a later time than `value`. */
type AfterRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that is a later time than `value`. */
  operator: 'after';
  /**
   * The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an
   * offset, with at most nine digits of a second.
   */
  value: string;
};

/** The column has a string that is an earlier time than `value`, or the same. */
type OnOrBeforeRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that is an earlier time than `value`, or the same. */
  operator: 'on_or_before';
  /**
   * The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an
   * offset, with at most nine digits of a second.
   */
  value: string;
};

/** The column has a string that is a later time than `value`, or the same. */
type OnOrAfterRule<Column extends string = string> = {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: Column;
  /** The column has a string that is a later time than `value`, or the same. */
  operator: 'on_or_after';
  /**
   * The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an
   * offset, with at most nine digits of a second.
   */
  value: string;
};

/** Compares one column of a record. The operator determines the type of `value`. */
export type FilterRule<T = Data> =
  | EqualityRule<T>
  | GreaterThanRule<NumberColumn<T>>
  | LessThanRule<NumberColumn<T>>
  | GreaterThanOrEqualsRule<NumberColumn<T>>
  | LessThanOrEqualsRule<NumberColumn<T>>
  | ContainsRule<TextColumn<T>>
  | NotContainsRule<TextColumn<T>>
  | StartsWithRule<TextColumn<T>>
  | EndsWithRule<TextColumn<T>>
  | IsEmptyRule<ColumnName<T>>
  | IsNotEmptyRule<ColumnName<T>>
  | BeforeRule<TextColumn<T>>
  | AfterRule<TextColumn<T>>
  | OnOrBeforeRule<TextColumn<T>>
  | OnOrAfterRule<TextColumn<T>>;

/** Rules joined by a condition. */
export interface FilterGroup<T = Data> {
  /** `AND`: every rule has to hold. `OR`: at least one. Default: `AND`. */
  condition?: 'AND' | 'OR' | undefined;
  /** Comparisons and nested groups. At least 1 item. */
  rules: readonly Filter<T>[];
}

/** A rule, or a group of rules. */
export type Filter<T = Data> = FilterGroup<T> | FilterRule<T>;

/** The rules that compare a column of `T` with values of the column's type. */
type EqualityRule<T = Data> = {
  [Column in ColumnName<T>]-?:
    | EqualsRule<Column, Operand<T[Column]>>
    | NotEqualsRule<Column, Operand<T[Column]>>
    | InRule<Column, Operand<T[Column]>>
    | NotInRule<Column, Operand<T[Column]>>;
}[ColumnName<T>];
