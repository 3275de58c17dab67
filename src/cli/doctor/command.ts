import type { Command } from 'commander';
import { targetCommand } from '../target.js';
import type { DoctorOptions } from './examine.js';

export function doctorCommand(): Command {
  return targetCommand('doctor')
    .description('check everything in a data directory, or in the databases of a server')
    .option('--repair', 'repair what can be made again from the records; never changes a record')
    .option('--json', 'print each check as a line of JSON')
    .examples(
      'cosift doctor',
      'cosift doctor --data /var/lib/cosift --repair',
      'cosift doctor --url http://127.0.0.1:8080 --json',
    )
    .addHelpText(
      'after',
      '\nExit code 0: all is well, or repaired. 1: there are problems, or the checks failed.',
    )
    .action(async (options: DoctorOptions) => {
      const { examine } = await import('./examine.js');
      await examine(options);
    });
}
