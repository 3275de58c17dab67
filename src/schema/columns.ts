/** A value of a column, or a list of strings, numbers and booleans. null counts as absent. */
export type ColumnValue = string | number | boolean | null | readonly (string | number | boolean)[];

/** The elements of lists, and other values as they are. */
type Elements<V> = V extends readonly (infer Element)[] ? Element : V;

/** The data of a record of any columns: values by column name, in the order in which they were given. */
export type Data = Record<string, ColumnValue>;

/**
 * What the type of a record's data has to satisfy: each member is a column. Members may be optional, null or undefined;
 * a column that is undefined is left out. An `interface` satisfies it.
 */
export type Columns<T> = { [Column in keyof T]: ColumnValue | undefined };

/** A value to write: also an object, or a list of any values, for a database with the setting `flatten`. */
type NewValue<V> = V extends ColumnValue | undefined
  ? V
  : V extends Date | ((...args: never) => unknown)
    ? never
    : { [Member in keyof V]: NewValue<V[Member]> };

/** What the type of data to write has to satisfy, in which objects may be nested. */
export type NewColumns<T> = Columns<T> | { [Column in keyof T]: NewValue<T[Column]> };

/** The names of the columns of `T`; any name if `T` has any columns. */
export type ColumnName<T> = keyof T & string;

/** The names of the columns of `T` that may have a value of the type `V`. */
type ColumnOf<T, V> = string extends keyof T
  ? string
  : {
      [Column in ColumnName<T>]-?: Extract<Elements<T[Column]>, V> extends never ? never : Column;
    }[ColumnName<T>];

/** The names of the columns of `T` that may have a number, or a list with numbers. */
export type NumberColumn<T> = ColumnOf<T, number>;

/** The names of the columns of `T` that may have a string, or a list with strings. */
export type TextColumn<T> = ColumnOf<T, string>;

/** The types of the elements of the lists among `V`. */
export type ElementOf<V> = V extends readonly (infer Element extends string | number | boolean)[]
  ? Element
  : never;

/**
 * Columns to change of a record whose data has the type `T`, or the type `Given` of the argument if `T` has any columns.
 * null removes a column; a column of `T` has to be optional or nullable for that.
 */
export type ColumnChanges<T, Given = Data> = string extends keyof T
  ? Given | Readonly<Record<string, ColumnValue | undefined>>
  : {
      readonly [Column in keyof T]?:
        | T[Column]
        | (Record<never, never> extends Pick<T, Column> ? null : never);
    };

/** A vector: as many finite numbers as the database has dimensions. */
export type Vector = Float32Array | readonly number[];
