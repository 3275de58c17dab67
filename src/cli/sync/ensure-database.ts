import type { DatabaseService } from '../../databases/index.js';
import { CosiftError, isCode } from '../../errors.js';
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
  const existing = await cosift
    .database(id)
    .describe()
    .catch((error) => {
      if (!isCode(error, 'database_not_found')) throw error;
    });
  if (existing !== undefined && setting === undefined) return;
  try {
    // The name may be that of an alias.
    await cosift.createDatabase(existing?.id ?? id, settings);
  } catch (error) {
    if (existing === undefined || !isCode(error, 'database_exists')) throw error;
    const { model, embed } = existing;
    const what = model === null ? 'embeds nothing' : `embeds ${embed.columns?.join(', ') ?? 'every text'}`;
    throw new CosiftError(
      'database_exists',
      `database "${id}" exists, and ${what}: leave out \`embed\` to keep this; \`cosift databases show ${id}\` has all settings, and \`cosift databases change\` changes them`,
      { cause: error.cause },
    );
  }
}
