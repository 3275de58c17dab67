import { CosiftError, type ErrorCode } from '../errors.js';
import { WhereError } from '../where/where-error.js';

/** What an agent can do about a failure. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  database_not_found: 'list_databases shows the databases',
  invalid_cursor:
    'pass `next_cursor` of the result before with otherwise the same arguments, or leave cursor out for the first records',
  data_locked:
    'whoever runs the agent has to start `cosift serve` on the directory, which then serves all agents',
  unauthorized: 'whoever runs the agent has to give another key',
  forbidden: 'whoever runs the agent has to give a key that may; do not try again',
  busy: 'try again in a few seconds',
  rate_limited: 'try again later',
  not_ready: 'try again in a few seconds',
  unreachable: 'whoever runs the agent has to start the service, or to correct its address',
};

/** Arguments that have other names in requests. */
const ARGUMENTS = [
  [/^\/?filter\b/, 'where'],
  [/^\/?facets\b/, 'count_by'],
] as const;

/** Returns the error that an agent reads: it names the argument, what was expected, and what to do. */
export function toolError(error: unknown): Error {
  if (error instanceof WhereError) return new Error(`where: ${error.message}`);
  if (!(error instanceof CosiftError)) return error instanceof Error ? error : new Error(String(error));
  const named = (text: string) =>
    ARGUMENTS.reduce((named, [member, argument]) => named.replace(member, argument), text);
  const places = error.problems
    .map(({ pointer, detail }) => named(`${pointer}: ${detail}`))
    .filter((_, at) => at > 0);
  const advice = ADVICE[error.code];
  return new Error([named(error.detail), ...places, ...(advice === undefined ? [] : [advice])].join('; '), {
    cause: error,
  });
}
