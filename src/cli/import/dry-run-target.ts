import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Database, Databases } from '../../api/index.js';
import { isCode } from '../../errors.js';
import {
  BUILT_IN_MODEL,
  checkDatabaseSettings,
  type DatabaseDescription,
  type DatabaseSettings,
} from '../../schema/index.js';
import { openTarget } from '../target.js';
import { type ImportOptions, settingsOf } from './store-records.js';

/** The database that an import would store in. */
export interface DryRunTarget {
  /** Undefined if the import would create it. */
  database: Database | undefined;
  /** Settings by which records are checked. */
  settings: DatabaseSettings;
  /** The codes of problems that depend on settings which are not known. */
  undecided: readonly string[];
  /** Which texts are searched; absent without a model, and where that is not known. */
  searched?: {
    /** The embedded columns, or undefined for every text. */
    columns: readonly string[] | undefined;
    /** Whether the model knows English alone. */
    isEnglish: boolean;
  };
}

/**
 * Calls `use` with the database that an import would store in. A database that exists is opened, and one of a server or
 * of PostgreSQL is asked for its settings, but nothing is created.
 *
 * @throws {CosiftError} also when the settings of the options are not those of the database.
 */
export async function withTarget<T>(
  options: ImportOptions,
  use: (target: DryRunTarget) => Promise<T>,
): Promise<T> {
  const settings = checkDatabaseSettings(settingsOf(options));
  const { data, database: id, store, url } = options;
  const exists = (...names: string[]) => existsSync(path.join(data, ...names));
  // The name may be that of an alias.
  if (url === undefined && store === undefined && !exists('databases', id) && !exists('aliases.json')) {
    return use(newTarget(settings));
  }
  await using databases = await openTarget(options);
  return await use(await targetOf(databases, id, settings));
}

async function targetOf(databases: Databases, id: string, settings: DatabaseSettings): Promise<DryRunTarget> {
  const database = databases.database(id);
  try {
    const description = await database.describe();
    // The database exists, so this only compares its settings.
    if (Object.keys(settings).length > 0) await databases.createDatabase(description.id, settings);
    return { database, ...rulesOf(description) };
  } catch (error) {
    if (isCode(error, 'database_not_found')) return newTarget(settings);
    // The API key may not be allowed to describe databases.
    if (!isCode(error, 'forbidden')) throw error;
    return { ...newTarget(settings), database, ...undecidedBy(settings) };
  }
}

function newTarget(settings: DatabaseSettings): DryRunTarget {
  const hasModel = settings.dimensions === undefined;
  const searched = { columns: settings.embed?.columns, isEnglish: true };
  return { database: undefined, settings, undecided: [], ...(hasModel && { searched }) };
}

/** What only the database decides: whether records have vectors, and which text is embedded. */
function undecidedBy({ dimensions, embed }: DatabaseSettings) {
  const vectors = dimensions === undefined ? ['invalid_vector', 'invalid_dimensions'] : [];
  const texts = embed === undefined ? ['too_many_passages'] : [];
  const searched =
    embed === undefined || dimensions !== undefined
      ? undefined
      : { columns: embed.columns, isEnglish: false };
  return { undecided: [...vectors, ...texts], ...(searched && { searched }) };
}

function rulesOf({ model, dimensions, embed }: DatabaseDescription): Omit<DryRunTarget, 'database'> {
  if (model === null) return { settings: { dimensions, embed }, undecided: [] };
  // Another model may divide texts into fewer passages.
  const undecided = model === BUILT_IN_MODEL ? [] : ['too_many_passages', 'invalid_dimensions'];
  return {
    settings: { embed },
    undecided,
    searched: { columns: embed.columns, isEnglish: model === BUILT_IN_MODEL },
  };
}
