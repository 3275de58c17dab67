import { CosiftError } from '../errors.js';
import { describePlatform } from './platform.js';

/** A file or package that could not be loaded. */
export interface Attempt {
  name: string;
  cause: unknown;
}

/**
 * The error for a part of cosift that is not installed or does not fit this machine. It lists what was tried, with the
 * causes, and ends with the `fixes`.
 */
export function loadFailure(
  part: string,
  attempts: readonly Attempt[],
  fixes: readonly string[],
): CosiftError {
  const tried = attempts.map(({ name, cause }) => `- ${name}: ${reasonOf(cause)}`);
  const sections = [`${part} could not be loaded on ${describePlatform()}. Tried:`, ...tried, '', ...fixes];
  return new CosiftError('not_installed', sections.join('\n'), { cause: attempts.at(-1)?.cause });
}

/** The first line, because the rest of a failed `require` lists the files that led to it. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.split('\n', 1)[0]!;
}
