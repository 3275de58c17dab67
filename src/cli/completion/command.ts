import { Argument, type Command } from 'commander';
import { CliCommand } from '../cli-command.js';
import { writeLines } from '../output.js';
import { bashScript, zshScript } from './bash.js';
import { fishScript } from './fish.js';
import { completedCommands } from './tree.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

type Shell = keyof typeof SCRIPTS;

export function completionCommand(): Command {
  return new CliCommand('completion')
    .summary('print a script that completes commands in a shell')
    .description(
      'Print a script that completes commands, options, their values, and the databases of the data directory. Put it ' +
        'where the shell reads it at its start.',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .examples(
      "echo 'source <(cosift completion bash)' >> ~/.bashrc",
      "echo 'source <(cosift completion zsh)' >> ~/.zshrc",
      'cosift completion fish > ~/.config/fish/completions/cosift.fish',
    )
    .action(async (shell: Shell, _options: object, command: Command) => {
      const program = command.parent ?? command;
      await writeLines([SCRIPTS[shell](completedCommands(program)).trimEnd()]);
    });
}
