import { Command } from 'commander';
import { examples } from '../examples.js';
import type { MigrateOptions } from './migrate.js';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('move databases, keys and webhooks between a data directory and a PostgreSQL database')
    .requiredOption('--from <place>', 'data directory, or URL of a PostgreSQL database; it is not changed')
    .requiredOption(
      '--to <place>',
      'data directory, or URL of a PostgreSQL database, without these databases',
    )
    .addHelpText(
      'after',
      [
        examples(
          'cosift migrate --from ./data --to postgres://cosift@db.example.com/cosift',
          'cosift migrate --from postgres://cosift@db.example.com/cosift --to ./data',
        ),
        'Stop the services of the source first. After an interruption, run the same command to go on.',
      ].join('\n\n'),
    )
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('./migrate.js');
      await migrate(options);
    });
}
