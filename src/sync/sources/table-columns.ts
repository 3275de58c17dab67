import { CosiftError } from '../../errors.js';
import type { ColumnType } from '../../readers/column-types.js';
import type { SourceType } from './column-readers.js';
import { checkColumns, type TableDefinition, wantedColumns } from './definition.js';

/** The keys that a database ensures. */
export interface KeysOfTable {
  /** Whether it is a table, which a database may ensure keys of. */
  hasRows: boolean;
  primaryKey: readonly string[];
  /** The columns of unique indexes that have no NULL. */
  uniqueKeys: readonly (readonly string[])[];
}

/** The columns of a definition, with the types that the source has. */
export interface TableColumns<Type extends SourceType> {
  columns: readonly { name: string; type: Type; given: ColumnType | undefined }[];
  key: readonly { name: string; type: Type }[];
  /** Whether the database ensures that the key identifies a row. */
  isUnique: boolean;
  /** The declared types of the columns. */
  declared: readonly { name: string; type: string }[];
}

/**
 * Returns the columns of a definition. `types` are those of all columns of the source, `found` the keys of a table, and `what`
 * names it.
 *
 * @throws {CosiftError} `source_failed` for a definition that does not fit to them.
 */
export function tableColumns<Type extends SourceType>(
  definition: TableDefinition,
  types: ReadonlyMap<string, Type>,
  found: KeysOfTable | undefined,
  what: string,
): TableColumns<Type> {
  wantedColumns(definition, [...types.keys()], what);
  const { isUnique, names } = keyOf(definition, found, what);
  checkColumns(names, [...types.keys()], what);
  const typeOf = (name: string) => types.get(name) as Type;
  for (const name of names) checkKeyPart(name, typeOf(name));
  for (const name of Object.values(definition.times ?? {})) {
    if (name !== undefined && typeOf(name).kind !== 'time') {
      throw new CosiftError(
        'source_failed',
        `column "${name}" has the type ${typeOf(name).name}, and \`times\` needs a date or a time`,
      );
    }
  }
  return {
    columns: definition.columns.map((name) => ({
      name,
      type: typeOf(name),
      given: givenType(definition, name),
    })),
    key: names.map((name) => ({ name, type: typeOf(name) })),
    isUnique,
    declared: definition.columns.map((name) => ({ name, type: typeOf(name).name })),
  };
}

function keyOf(
  { key, table }: TableDefinition,
  found: KeysOfTable | undefined,
  what: string,
): { names: readonly string[]; isUnique: boolean } {
  if (key === undefined) {
    if (found !== undefined && found.primaryKey.length > 0)
      return { names: found.primaryKey, isUnique: true };
    throw new CosiftError(
      'source_failed',
      `${what} has no primary key: name the columns that identify a row by \`key\``,
    );
  }
  const isUnique =
    found?.uniqueKeys.some(
      (names) => names.length === key.length && names.every((name) => key.includes(name)),
    ) ?? false;
  if (found?.hasRows && !isUnique) {
    throw new CosiftError(
      'source_failed',
      `${table} has no unique index on ${key.map((name) => `"${name}"`).join(', ')} with columns that are NOT NULL, so they do not identify its rows`,
    );
  }
  return { names: key, isUnique };
}

function givenType({ types }: TableDefinition, name: string): ColumnType | undefined {
  return types !== undefined && Object.hasOwn(types, name) ? types[name] : undefined;
}

function checkKeyPart(name: string, type: SourceType): void {
  if (type.kind !== undefined && type.kind !== 'json') return;
  throw new CosiftError(
    'source_failed',
    `column "${name}" of the key has the type ${type.name}, which cannot be part of a key`,
  );
}
