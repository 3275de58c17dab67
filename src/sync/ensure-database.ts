import type { DatabaseService } from '../databases/index.js';
import { CosiftError, isCode } from '../errors.js';
import { checkDatabaseSettings, type DatabaseSettings } from '../schema/index.js';

/**
 * Creates a database if it is missing.
 *
 * @throws {CosiftError} `database_exists` if it has another setting `embed` than the given one.
 */
export async function ensureDatabase(
  { aliases, catalog }: Pick<DatabaseService, 'aliases' | 'catalog'>,
  database: string,
  embed: DatabaseSettings['embed'],
): Promise<void> {
  const id = await aliases.resolve(database);
  const existing = await catalog.describe(id).catch((error) => {
    if (!isCode(error, 'database_not_found')) throw error;
  });
  if (existing !== undefined && embed === undefined) return;
  try {
    await catalog.create(id, checkDatabaseSettings(embed === undefined ? {} : { embed }));
  } catch (error) {
    if (!isCode(error, 'database_exists')) throw error;
    // Another source may have created it meanwhile.
    if (embed === undefined) return;
    const { model, embed: embeds } = existing ?? (await catalog.describe(id));
    const what = model === null ? 'embeds nothing' : `embeds ${embeds.columns?.join(', ') ?? 'every text'}`;
    throw new CosiftError(
      'database_exists',
      `database "${database}" exists, and ${what}: leave out \`embed\` to keep this; \`cosift databases show ${database}\` has all settings, and \`cosift databases change\` changes them`,
      { cause: error.cause },
    );
  }
}
