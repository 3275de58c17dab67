import { suggest } from '../schema/suggest.js';

/** A setting that cannot be used. The message is one line for the person at the shell. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws `ConfigError` for the first of `names` that is not in `known`, with the name that was probably meant. */
export function refuseUnknown(names: readonly string[], known: readonly string[], what: string): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = suggest(unknown, known);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new ConfigError(`${what} ${unknown} is not known${hint}`);
}
