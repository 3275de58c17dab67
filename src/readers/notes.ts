import type { ColumnType, TypeHint } from './column-types.js';

const TYPE_NAMES = { number: 'numbers', boolean: 'booleans' } as const;

/** Columns that are named together. */
const COLUMNS_SHOWN = 10;

/** Groups the columns that are text for the same reason. Few columns have a reason each if a value decides it. */
export function groupedHints(hints: readonly TypeHint[]): TypeHint[][] {
  const areFew = hints.length <= COLUMNS_SHOWN;
  const groups = new Map<string, TypeHint[]>();
  for (const hint of hints) {
    const { type, form, isInexact, nulls } = hint;
    const value = areFew ? form : form === undefined;
    const key = JSON.stringify([type, value, isInexact, nulls.map(({ text }) => text)]);
    groups.set(key, [...(groups.get(key) ?? []), hint]);
  }
  return [...groups.values()];
}

/** Says why the columns of a group are text although they look like another type. */
export function reasonOfText(group: readonly TypeHint[]): string {
  const [first] = group as [TypeHint];
  const values = [
    ...first.nulls.map(({ text, line }) => `"${text}" in line ${line}`),
    ...(first.form === undefined ? [] : [`${first.form.text} in line ${first.form.line}`]),
  ];
  const beside = first.first === undefined ? '' : ` beside ${first.first.text} in line ${first.first.line}`;
  const inexact = first.isInexact ? ', which has more digits than a number keeps' : '';
  const names = group.slice(0, COLUMNS_SHOWN).map(({ name }) => name);
  const more = group.length > COLUMNS_SHOWN ? ` and ${group.length - COLUMNS_SHOWN} more` : '';
  const [look, are] = group.length === 1 ? ['looks', 'is'] : ['look', 'are'];
  const of = group.length === 1 ? '' : ` of ${first.name}`;
  return `${names.join(', ')}${more} ${look} like ${TYPE_NAMES[first.type]}, but ${are} text because of ${values.join(' and ')}${beside}${of}${inexact}`;
}

/** Returns whether a text looks like a value, and not like the name of a column. */
export const isValue = (text: string) => VALUE.test(text);
const VALUE = /^(?:[-+]?(?:\d+\.?\d*|\.\d+)|\d{4}-\d\d-\d\d.*|true|false)$/i;
/** What the name of a column of numbers begins with when it is a value, or what a column without a name is called. */
const MAY_BE_VALUE = /^(?:[-+.]?\d|true|false|column\d)/i;

/**
 * Warns when the header of a CSV file looks like a row: a name is a value, and no column of numbers or booleans has a name
 * of letters.
 */
export function headerWarning(
  columns: readonly { name: string; type: ColumnType | undefined }[],
): string | undefined {
  const others = columns.filter(({ type }) => type !== 'text');
  const isRow =
    columns.some(({ name }) => isValue(name)) && others.every(({ name }) => MAY_BE_VALUE.test(name));
  if (!isRow) return undefined;
  return 'the first line is read as the header, but looks like a row: if it is one, put a line with the names of the columns above it';
}
