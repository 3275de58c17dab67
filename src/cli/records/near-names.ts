import type { Databases } from '../../api/index.js';
import { CosiftError, isCode } from '../../errors.js';
import { suggest } from '../../schema/suggest.js';

const SHOWN = 10;

/** Runs `work` on a database. When there is no such database, the error says which ones there are. */
export async function withDatabase<T>(databases: Databases, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isCode(error, 'database_not_found')) throw error;
    // The key may not be allowed to list databases.
    const ids = await databases.databases().then(
      (list) => list.map((database) => database.id),
      () => undefined,
    );
    throw ids === undefined
      ? error
      : new CosiftError('database_not_found', `${error.detail}; ${others(id, ids)}`);
  }
}

function others(id: string, ids: readonly string[]): string {
  const meant = suggest(id, ids);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  if (ids.length === 0) return '`cosift import` and `cosift databases create` create one';
  const rest = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : '';
  return `there are: ${ids.slice(0, SHOWN).join(', ')}${rest}`;
}
