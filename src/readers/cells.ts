/** A number that the file writes otherwise than JavaScript does, such as `1.10` or `12345678901234567890`. */
export class Numeral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object or a list, as JSON. */
export class Nested {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A value of a file, before it is converted to the type of its column. */
export type Cell = Scalar | null | Numeral | Nested;

export type Scalar = string | number | boolean;

/** A value of a record. */
export type Value = Scalar | null | readonly Scalar[];

/** Returns the cell of a number that a file writes as `text`. */
export function numberCell(text: string): number | Numeral {
  const number = Number(text);
  return String(number) === text ? number : new Numeral(text);
}

/** Returns the text of a value as CSV has it; '' for no value. */
export function textOf(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (cell === null) return '';
  if (cell instanceof Numeral) return cell.text;
  return cell instanceof Nested ? cell.json : String(cell);
}
