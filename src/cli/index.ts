import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { configCommand } from './config.js';
import { report } from './failure.js';
import { importCommand } from './import.js';
import { keyCommand } from './key.js';
import { reembedCommand } from './reembed.js';
import { searchCommand } from './search.js';
import { serveCommand } from './serve.js';

/** Runs one command line, given without the program's own name. Sets the exit code, never throws. */
export async function run(args: readonly string[]): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const program = new Command('cosift')
    .description('Exact semantic search over records, with filters')
    .version(version)
    .showSuggestionAfterError()
    .addCommand(serveCommand())
    .addCommand(importCommand())
    .addCommand(searchCommand())
    .addCommand(reembedCommand())
    .addCommand(keyCommand())
    .addCommand(configCommand());
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    report(error);
    process.exitCode = 1;
  }
}
