import type { DatabaseService } from '../../databases/index.js';
import { isCode } from '../../errors.js';
import type { DatabaseSettings } from '../../schema/index.js';
import type { ConfiguredSync } from '../../sync/index.js';
import { type EmbedOptions, embedIn } from '../embed-options.js';

/**
 * Creates the database of a source if it is missing.
 *
 * @throws {CosiftError} `database_exists` if it has other settings than the given ones.
 */
export async function ensureDatabase(
  databases: DatabaseService,
  { database: id, embed }: ConfiguredSync,
  options: EmbedOptions = {},
): Promise<void> {
  const { Cosift } = await import('../../library/cosift.js');
  const cosift = new Cosift(databases);
  const setting = embedIn<NonNullable<DatabaseSettings['embed']>>(embed, options);
  const settings = setting === undefined ? {} : { embed: setting };
  try {
    const existing = await cosift.database(id).describe();
    // The name may be that of an alias.
    if (setting !== undefined) await cosift.createDatabase(existing.id, settings);
  } catch (error) {
    if (!isCode(error, 'database_not_found')) throw error;
    await cosift.createDatabase(id, settings);
  }
}
