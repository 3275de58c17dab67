import type { Databases } from '../api/index.js';
import { suggest } from '../schema/suggest.js';

const SHOWN = 10;

/**
 * Returns a message for each of these columns that no record has. It is no error to name one, because a column is empty
 * everywhere until a record has it, but it is probably misspelt.
 */
export async function unknownColumns(
  databases: Databases,
  id: string,
  names: Iterable<string>,
): Promise<string[]> {
  const named = new Set(names);
  if (named.size === 0) return [];
  const columns = await databases
    .database(id)
    .describe()
    .then(
      (description) => description.columns.map(({ name }) => name),
      // The key may not be allowed to describe the database.
      () => undefined,
    );
  if (columns === undefined) return [];
  const known = columns.length === 0 ? 'there are none' : `there are: ${columns.slice(0, SHOWN).join(', ')}`;
  return [...named]
    .filter((column) => !columns.includes(column))
    .map((column) => {
      const meant = suggest(column, columns);
      const hint = meant === undefined ? known : `did you mean "${meant}"?`;
      return `no record has a column "${column}"; ${hint}`;
    });
}

/** The columns that a filter names. What is no filter has none: the service refuses it. */
export function* columnsOf(filter: unknown): Generator<string> {
  if (typeof filter !== 'object' || filter === null) return;
  if ('rules' in filter && Array.isArray(filter.rules))
    for (const rule of filter.rules) yield* columnsOf(rule);
  else if ('column' in filter && typeof filter.column === 'string') yield filter.column;
}
