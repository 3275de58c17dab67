// Which Rust tests did not run.

/** Skip reason of Rust tests that another test runs in a separate process. They are not reported as skipped. */
const RUN_BY_ANOTHER = 'run in a process of its own by another test';

/** Each as `name: reason`, from the output of `cargo test`. */
export function skippedInCargo(output) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
  const text = output.replaceAll(/\x1b\[[0-9;]*m/g, '');
  const told = [...text.matchAll(/skipped: (\S.*?): (.+)/g)];
  const ignored = [...text.matchAll(/^test (\S+).* \.\.\. ignored(?:, (.+))?$/gm)];
  return [...told, ...ignored]
    .filter(([, , reason]) => reason !== RUN_BY_ANOTHER)
    .map(([, name, reason = 'ignored']) => `${name}: ${reason}`);
}
