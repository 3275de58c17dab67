import { type Command, Option } from 'commander';
import { CliCommand } from '../cli-command.js';
import type { MigrateOptions } from './migrate.js';

export function migrateCommand(): Command {
  return new CliCommand('migrate')
    .description('move databases, keys and webhooks between a data directory and a PostgreSQL database')
    .requiredOption(
      '--from <place>',
      'data directory, URL of a PostgreSQL database, or URL of a running server, whose records are copied ahead; it is not changed',
    )
    .requiredOption(
      '--to <place>',
      'data directory, or URL of a PostgreSQL database, without these databases',
    )
    .addOption(
      new Option(
        '--key <key>',
        'API key for a running server (default: ./data/admin.key, for a server on this machine)',
      ).env('COSIFT_KEY'),
    )
    .examples(
      'cosift migrate --from ./data --to postgres://cosift@db.example.com/cosift',
      'cosift migrate --from http://127.0.0.1:8080 --to postgres://cosift@db.example.com/cosift',
      'cosift migrate --from postgres://cosift@db.example.com/cosift --to ./data',
    )
    .addHelpText(
      'after',
      '\nStop the services of the source first, except a running server that is named by its URL. After an interruption, run the same command to go on.',
    )
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('./migrate.js');
      await migrate(options);
    });
}
