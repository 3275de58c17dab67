import { Command } from 'commander';

export class CliCommand extends Command {
  /** Adds command lines that show how the command is used to the end of its help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n'));
  }
}
