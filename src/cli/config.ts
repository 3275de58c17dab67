import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.js';
import { SETTINGS } from '../config/settings.js';
import { CliCommand } from './cli-command.js';
import { shownJson, warn } from './failure.js';
import { addText } from './option-values.js';

/** Adds a flag for every setting of the server, so that the help and the settings always agree. */
export function withSettings<C extends Command>(command: C): C {
  command.option('--config <file>', 'config file (env: COSIFT_CONFIG; default: cosift.json if it exists)');
  for (const {
    name,
    flag,
    env,
    help,
    default: fixed,
    defaultText = fixed,
    unit,
    parse,
    repeat,
    negated,
  } of SETTINGS) {
    if (flag === undefined) continue;
    const facts = negated
      ? [`env: ${env}=false`]
      : [
          unit === undefined ? parse.allowed : `${parse.allowed}, in ${unit}`,
          `env: ${env}`,
          ...(defaultText === undefined ? [] : [`default: ${defaultText}`]),
        ];
    const option = command.createOption(negated ? flag : `${flag} <value>`, `${help} (${facts.join('; ')})`);
    if (repeat) option.argParser(addText);
    // The help leaves out the limits, which docs/reference/limits.md lists.
    command.addOption(name.startsWith('limits.') ? option.hideHelp() : option);
  }
  return command.addHelpText(
    'after',
    '\nEach limit is an option, too: --limit-NAME VALUE. See docs/reference/limits.md.',
  );
}

export function configCommand(): Command {
  return withSettings(new CliCommand('config'))
    .description('show the settings that `serve` would use, and where each comes from')
    .option('--json', 'print the settings as JSON')
    .examples('cosift config', 'cosift config --port 9000')
    .action(async (flags: Record<string, unknown>) => {
      const { settings, warnings } = resolveConfig(flags, process.env);
      for (const warning of warnings) warn(warning);
      if (flags.json === true) {
        const shown = settings.map(({ name, value, source }) => ({ name, value, source }));
        console.log(shownJson(shown, 2));
        return;
      }
      const { table } = await import('./table.js');
      const rows = settings.map(({ name, value, source }) => [name, value, source]);
      console.log(table(['setting', 'value', 'from'], rows, Number.POSITIVE_INFINITY));
    });
}
