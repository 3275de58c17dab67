import { report } from './failure.js';
import { makeProgram } from './program.js';

/** Runs one command line, given without the program's own name. Sets the exit code, never throws. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await makeProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    report(error);
    process.exitCode = 1;
  }
}
