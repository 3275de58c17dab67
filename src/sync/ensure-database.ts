import { isDeepStrictEqual } from 'node:util';
import type { DatabaseService } from '../databases/index.js';
import { normalEmbed } from '../databases/settings-changes.js';
import { CosiftError, isCode } from '../errors.js';
import { checkDatabaseSettings, type DatabaseDescription, type DatabaseSettings } from '../schema/index.js';

/** The calls on databases that {@link ensureDatabase} makes. */
export interface CreatableDatabases {
  /** Describes the database of a name, which may be that of an alias. */
  describe(name: string): Promise<DatabaseDescription>;
  create(id: string, settings: DatabaseSettings): Promise<unknown>;
}

/** Those of this process. */
export function creatableOf({
  aliases,
  catalog,
}: Pick<DatabaseService, 'aliases' | 'catalog'>): CreatableDatabases {
  return {
    describe: async (name) => catalog.describe(await aliases.resolve(name)),
    create: (id, settings) => catalog.create(id, checkDatabaseSettings(settings)),
  };
}

/**
 * Creates a database if it is missing.
 *
 * @throws {CosiftError} `database_exists` if it has another setting `embed` than the given one.
 */
export async function ensureDatabase(
  databases: CreatableDatabases,
  database: string,
  embed: DatabaseSettings['embed'],
): Promise<void> {
  const find = () =>
    databases.describe(database).catch((error) => {
      if (!isCode(error, 'database_not_found')) throw error;
    });
  let existing = await find();
  if (existing === undefined) {
    try {
      await databases.create(database, embed === undefined ? {} : { embed });
      return;
    } catch (error) {
      // A key that may not see the database may not create it either.
      if (isCode(error, 'forbidden')) {
        throw new CosiftError(
          'database_not_found',
          `there is no database "${database}" that the key may use, and the key may not create it: it lacks databases.manage`,
          { cause: error },
        );
      }
      if (!isCode(error, 'database_exists')) throw error;
    }
    // Another source has created it meanwhile.
    existing = await find();
  }
  if (existing === undefined || embed === undefined) return;
  const { model, embed: embeds } = existing;
  if (model !== null && isDeepStrictEqual(normalEmbed(embeds), normalEmbed(embed))) return;
  const what = model === null ? 'embeds nothing' : `embeds ${embeds.columns?.join(', ') ?? 'every text'}`;
  throw new CosiftError(
    'database_exists',
    `database "${database}" exists, and ${what}: leave out \`embed\` to keep this; \`cosift databases show ${database}\` has all settings, and \`cosift databases change\` changes them`,
  );
}
