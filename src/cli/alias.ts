import { Command } from 'commander';
import { shownJson } from './failure.js';
import { outputWidth, writeLines } from './output.js';
import { withDatabase } from './records/near-names.js';
import { checkDatabase, modelFreeCommand, openTarget, type TargetOptions } from './target.js';

interface ListOptions extends TargetOptions {
  json?: true;
}

export function aliasCommand(): Command {
  return new Command('alias')
    .description('list, set and delete aliases, which are further names of databases')
    .addCommand(
      modelFreeCommand('list')
        .description('list the aliases and the databases that they name')
        .option('--json', 'print the aliases as JSON')
        .examples('cosift alias list')
        .action(list),
    )
    .addCommand(
      modelFreeCommand('set')
        .description('let an alias name a database from now on; all commands take it in place of the id')
        .argument('<alias>', 'name of the alias, new or not', checkDatabase)
        .argument('<database>', 'the database', checkDatabase)
        .examples('cosift alias set places facts')
        .action(set),
    )
    .addCommand(
      modelFreeCommand('delete')
        .description('delete an alias; its database stays')
        .argument('<alias>', 'name of the alias', checkDatabase)
        .examples('cosift alias delete places')
        .action(deleteAlias),
    );
}

async function list(options: ListOptions): Promise<void> {
  await using databases = await openTarget(options);
  const aliases = await databases.aliases();
  if (options.json) return await writeLines([shownJson(aliases, 2)]);
  if (aliases.length === 0) return await writeLines(['there is no alias']);
  const { table } = await import('./table.js');
  const rows = aliases.map(({ name, database }) => [name, database]);
  await writeLines([table(['alias', 'database'], rows, outputWidth())]);
}

async function set(name: string, database: string, options: TargetOptions): Promise<void> {
  await using databases = await openTarget(options);
  await withDatabase(databases, database, () => databases.setAlias(name, database));
  console.log(`"${name}" names "${database}"`);
}

async function deleteAlias(name: string, options: TargetOptions): Promise<void> {
  await using databases = await openTarget(options);
  await databases.deleteAlias(name);
  console.log(`deleted the alias "${name}"`);
}
