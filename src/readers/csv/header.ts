import type { CsvRow } from './splitter.js';

export interface CsvHeader {
  names: readonly string[];
  /** Number of fields of the header. */
  width: number;
  /** Number of fields that each row has: the columns up to the last that the file names. */
  minFields: number;
  /** What names the columns got that have none, or the name of an earlier column. For the user. */
  notes: readonly string[];
}

/** Names of columns that a note lists. */
const NAMES_SHOWN = 10;

/**
 * Returns the columns of a header. A column without a name is called `column1` by its place, as pandas and R leave the
 * column of the row names; the second column `a` is called `a_2`. After `usedFields` fields, separators name no columns.
 *
 * @throws {Error} for a header that cannot be read.
 */
export function headerOf({ fields, line, reason }: CsvRow, usedFields: number): CsvHeader {
  if (reason !== undefined) throw new Error(`line ${line}: the CSV header cannot be read: ${reason}`);
  const texts = fields.map((name) => name.replaceAll(/\s*[\r\n]\s*/g, ' ').trim());
  while (texts.length > Math.max(1, usedFields) && texts.at(-1) === '') texts.pop();
  const control = texts.findIndex((name) => /\p{Cc}/u.test(name));
  if (control >= 0) {
    throw new Error(
      `line ${line}: the name of column ${control + 1} of the CSV header has a control character; ` +
        'the separator or the encoding may be another one (cosift import --separator, --encoding)',
    );
  }
  const taken = new Set(texts);
  const seen = new Map<string, number>();
  const given: string[] = [];
  const names = texts.map((name, at) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    if (name !== '' && times === 1) return name;
    const free = freeName(name === '' ? `column${at + 1}` : `${name}_${times}`, taken);
    taken.add(free);
    given.push(
      `column ${at + 1} is called "${free}", because it has ${name === '' ? 'no name' : `the name "${name}" again`}`,
    );
    return free;
  });
  const more =
    given.length > NAMES_SHOWN ? [`and ${given.length - NAMES_SHOWN} more columns are named so`] : [];
  const minFields = texts.findLastIndex((name) => name !== '') + 1;
  return { names, width: fields.length, minFields, notes: [...given.slice(0, NAMES_SHOWN), ...more] };
}

/** Returns the name, or the first of `name_2`, `name_3` and so on that no column has. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
  return free;
}
