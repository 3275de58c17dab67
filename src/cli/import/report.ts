import { COLUMN_TYPES, type TypeHint } from '../../readers/column-types.js';
import { isIdentityOnly, KIND_NAMES } from '../../readers/identity/column.js';
import type { Input } from '../../readers/input.js';
import { IDENTITY_MEMBERS } from '../../readers/inspection.js';
import { groupedHints, headerWarning, reasonOfText } from '../../readers/notes.js';
import { shellWord } from '../../readers/option-text.js';
import { count } from '../../schema/plain.js';
import { plural } from '../progress-bar.js';

/** Describes how a file is read: its format, its identity and the types of its columns. */
export function describeInput(input: Input): string[] {
  return [
    `read as ${input.format.description}`,
    ...headerNotes(input),
    identityOf(input),
    ...typesOf(input),
    ...hintsOf(input),
  ];
}

const HEADER_NOTE =
  'the first line is read as the header: if it is a row, put a line with the names of the columns above it';

/** What a user should know of the header of a CSV file. */
function headerNotes({ format, inspection, identity }: Input): string[] {
  if (format.typed || inspection === undefined) return [];
  const columns = inspection.names.map((name) => ({ name, type: inspection.typeOf(name) }));
  // Nothing tells texts from names, unless the other values of a column could be numbers, or a name is that of an identity.
  const isDoubtful =
    identity?.column === undefined &&
    inspection.hints.length === 0 &&
    columns.every(({ type }) => type === 'text');
  const warning = headerWarning(columns) ?? (isDoubtful ? HEADER_NOTE : undefined);
  // Of more columns, an empty line has no values.
  const isEmptyValue = format.header.names.length === 1 && format.emptyLines > 0;
  return [
    ...(warning === undefined ? [] : [warning]),
    ...format.header.notes,
    ...(isEmptyValue
      ? [`${plural(format.emptyLines, 'empty line')} left out: a row without a value has quotes ("")`]
      : []),
  ];
}

/** Columns that are text although they look like another type, with the options that change it. */
function hintsOf(input: Input): string[] {
  const { inspection, identity } = input;
  const hints = (inspection?.hints ?? []).filter(
    ({ name }) =>
      input.typeOf(name) === 'text' &&
      !input.hasDeclaredType(name) &&
      name !== identity?.column &&
      !(identity !== undefined && isIdentityOnly(name, identity)),
  );
  return groupedHints(hints).map((group) => {
    const nulls = (group[0] as TypeHint).nulls.map(({ text }) => `--null ${shellWord(text)}`);
    const types = group.flatMap(({ name, type, form, isInexact }) =>
      form === undefined || isInexact ? [] : [`${name}=${type}`],
    );
    const options = [...nulls, ...(types.length === 0 ? [] : [`--types ${shellWord(types.join(','))}`])];
    return [reasonOfText(group), ...(options.length === 0 ? [] : [options.join(' ')])].join(': ');
  });
}

/** Columns of a type that are named. */
const COLUMNS_SHOWN = 50;

function identityOf({ identity, inspection }: Input): string {
  const members = IDENTITY_MEMBERS.filter((name) => inspection?.identityMembers.has(name));
  if (members.length > 0) {
    const names = members.map((name) => `"${name}"`).join(' and ');
    return `identity: the ${members.length === 1 ? 'member' : 'members'} ${names} next to "data"`;
  }
  const isEmpty = inspection?.identity.values === 0 && identity?.column !== 'uuid';
  if (identity?.column === undefined || isEmpty) {
    return 'identity: the content of each row, so that a changed row is a new record';
  }
  const { column, kind, uuids, keys } = identity;
  const added = [...(uuids ? ['uuid'] : []), ...(keys === 'none' ? [] : ['key'])];
  const also = added.map((name) => `, and the column "${name}"`).join('');
  const missing =
    inspection === undefined || column === 'uuid' ? 0 : inspection.rows - inspection.identity.values;
  const others = missing === 0 ? '' : `; rows without one: ${count(missing)}, by their content`;
  const exception = kind === 'key' ? inspection?.identity.exception : undefined;
  const because = exception === undefined ? '' : `, because of ${JSON.stringify(exception)}`;
  return `identity: the column "${column}" (${KIND_NAMES[kind]}${because})${also}${others}`;
}

/** Names the types of the columns: a filter compares only values of the same type. */
function typesOf(input: Input): string[] {
  const { inspection, identity } = input;
  if (inspection === undefined) return [];
  const isData = (name: string) => identity === undefined || !isIdentityOnly(name, identity);
  const names = inspection.names.filter(isData);
  const withFormat = (name: string) => {
    const [format] = input.formatsOf(name);
    return format === undefined ? name : `${name} (${format})`;
  };
  const typed = COLUMN_TYPES.map(
    (type) => [type, names.filter((name) => input.typeOf(name) === type)] as const,
  );
  const parts = typed.flatMap(([type, columns]) =>
    columns.length > 0 ? [`${type}: ${listed(columns.map(withFormat))}`] : [],
  );
  if (parts.length === 0) return [];
  const others = names.some((name) => input.typeOf(name) === undefined) ? ['all others as in the file'] : [];
  return [`columns by type: ${[...parts, ...others].join('; ')} (--types changes it)`];
}

function listed(columns: readonly string[]): string {
  const shown = columns.slice(0, COLUMNS_SHOWN).join(', ');
  return columns.length <= COLUMNS_SHOWN
    ? shown
    : `${shown} and ${count(columns.length - COLUMNS_SHOWN)} more`;
}
