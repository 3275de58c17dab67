import { type Command, Option } from 'commander';
import { CliCommand } from '../cli-command.js';
import { addModels } from '../target.js';
import type { RestoreOptions } from './restore-file.js';

export function restoreCommand(): Command {
  return new CliCommand('restore')
    .description('fill an empty data directory from an archive of `backup`, and check every record')
    .argument('<file>', 'archive; - for standard input')
    .requiredOption('--data <dir>', 'new or empty data directory')
    .addOption(
      new Option('--models <name=source>', 'model to compare with that of the archive; may be repeated')
        .env('COSIFT_MODELS')
        .argParser(addModels),
    )
    .examples(
      'cosift restore cosift.tar --data restored',
      'gunzip -c cosift.tar.gz | cosift restore - --data restored',
    )
    .action(async (file: string, options: RestoreOptions) => {
      const { restoreFile } = await import('./restore-file.js');
      await restoreFile(file, options);
    });
}
