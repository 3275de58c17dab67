import type { ColumnType } from './column-types.js';

/** A line to send. */
export interface Row {
  json: Uint8Array;
  /** The line of the file on which the record ends. */
  line: number;
}

/** Called for a line that is not sent. */
export type OnBadLine = (line: number, detail: string) => void;

/**
 * The two parts of a file. The service assigns ids above all existing ids. The records with an id are sent first, so
 * that no other record gets the same id.
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
  /** CSV only: types that are not inferred from the values. */
  types?: Record<string, ColumnType>;
}
