import { createHash } from 'node:crypto';
import { CosiftError } from '../../errors.js';
import type { ColumnReader } from './column-readers.js';
import type { TableDefinition } from './definition.js';

/** What a bookmark says of a table. */
export interface TableBookmark {
  definition: string;
  identity: string;
  layout: string;
  /** Missing in the bookmark of another kind of source. */
  kinds?: Record<string, string>;
}

interface Known {
  identity: string;
  layout: string;
  columns: readonly ColumnReader[];
}

export function bookmarkOf(
  { identity, layout, columns }: Known,
  definition: TableDefinition,
): Required<TableBookmark> {
  return {
    definition: createHash('sha256').update(JSON.stringify(definition)).digest('base64url'),
    identity,
    layout,
    kinds: Object.fromEntries(columns.map(({ name, kind }) => [name, kind])),
  };
}

/**
 * Returns the bookmark if the rows that it stands for are those of the same table.
 *
 * @throws {CosiftError} `source_failed` if a column has become one of another kind, so that records would have values of two kinds.
 */
export function comparable<Bookmark extends TableBookmark>(
  before: Bookmark | null,
  relation: Known,
  definition: TableDefinition,
): Bookmark | undefined {
  if (before === null) return undefined;
  for (const { name, kind } of relation.columns) {
    const earlier = before.kinds?.[name];
    const isGiven = Object.hasOwn(definition.types ?? {}, name);
    if (earlier === undefined || earlier === kind || isGiven) continue;
    throw new CosiftError(
      'source_failed',
      `column "${name}" was ${earlier} and is ${kind} now: say what records have by its type in \`types\``,
    );
  }
  const now = bookmarkOf(relation, definition);
  const isSame = (['definition', 'identity', 'layout'] as const).every((name) => before[name] === now[name]);
  return isSame ? before : undefined;
}
