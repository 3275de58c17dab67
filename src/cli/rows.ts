import type { ColumnType } from './column-types.js';

/** A line to send, and where it is in the file. */
export interface Row {
  json: Uint8Array;
  /** Line of the file that the record ends on. */
  line: number;
}

/** Told of a line that is not sent. */
export type Bad = (line: number, detail: string) => void;

/**
 * Which records of a file are read: the service makes the ids of those without one, above every id that it has. Read
 * after the records with ids, they can neither take the id of one nor be overwritten by it.
 */
export const PARTS = ['with-id', 'without-id'] as const;
export type Part = (typeof PARTS)[number];

/** How the columns of a file are read. */
export interface ColumnOptions {
  /** CSV only: the column with integer ids, `id` when absent. */
  idColumn?: string;
  /** The column whose value identifies a record. */
  keyColumn?: string;
  /** CSV only: the character between fields, a comma when absent. */
  separator?: string;
  /** CSV only: types that are not found from the values. */
  types?: Record<string, ColumnType>;
}
