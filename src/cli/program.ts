import { Command } from 'commander';
import { packageVersion } from '../platform/package.js';
import { aliasCommand } from './alias.js';
import { backupCommand } from './backup.js';
import { benchCommand } from './bench/command.js';
import { completionCommand } from './completion/command.js';
import { configCommand } from './config.js';
import { databasesCommand } from './databases.js';
import { deleteCommand } from './delete.js';
import { doctorCommand } from './doctor/command.js';
import { exportCommand } from './export/command.js';
import { getCommand } from './get.js';
import { importCommand } from './import/command.js';
import { keyCommand } from './key.js';
import { likeCommand } from './like.js';
import { mcpCommand } from './mcp.js';
import { migrateCommand } from './migrate/command.js';
import { modelCommand } from './model/command.js';
import { queryCommand } from './query.js';
import { reembedCommand } from './reembed.js';
import { restoreCommand } from './restore/command.js';
import { searchCommand } from './search.js';
import { serveCommand } from './serve.js';
import { syncCommand } from './sync/command.js';

export function makeProgram(): Command {
  return new Command('cosift')
    .description('Exact semantic search over records, with filters')
    .version(packageVersion())
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      [
        '',
        'Exit codes:',
        '  0    success',
        '  1    failure, wrong usage, an import with bad lines, a sync that failed or withholds deletions, or problems that doctor found; the reason is printed',
        '  130  import, export, reembed, backup, restore, migrate, doctor or bench was stopped by SIGINT or SIGTERM; run the same command again',
        '  141  nobody reads the output any more, as after `cosift query facts --all | head`',
      ].join('\n'),
    )
    .addCommand(serveCommand())
    .addCommand(mcpCommand())
    .addCommand(importCommand())
    .addCommand(syncCommand())
    .addCommand(exportCommand())
    .addCommand(searchCommand())
    .addCommand(likeCommand())
    .addCommand(queryCommand())
    .addCommand(getCommand())
    .addCommand(deleteCommand())
    .addCommand(databasesCommand())
    .addCommand(aliasCommand())
    .addCommand(reembedCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(migrateCommand())
    .addCommand(doctorCommand())
    .addCommand(modelCommand())
    .addCommand(keyCommand())
    .addCommand(configCommand())
    .addCommand(benchCommand())
    .addCommand(completionCommand());
}
