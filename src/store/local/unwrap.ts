import { CosiftError, isErrorCode, type Problem } from '../../errors.js';
import { StaleError } from '../store-errors.js';
import type { NativeFailure } from './binding.js';

/** Returns the result of a native call, or throws the error of its failure: failures cross the binding as values. */
export function unwrap<T>(outcome: T | NativeFailure): T {
  if (isFailure(outcome)) throw errorOf(outcome);
  return outcome;
}

/** Returns the error of a failure. A code that is not in the error table is an internal error. */
export function errorOf({ code, detail, problems, facts }: NativeFailure): CosiftError {
  const fields = { ...(JSON.parse(facts) as object), engine: code };
  // A test compares the codes of the engine's problems with `PROBLEM_CODES`.
  const typed = problems as Problem[];
  if (code === 'stale') return new StaleError(detail, { problems: typed, fields });
  return new CosiftError(isErrorCode(code) ? code : 'internal', detail, { problems: typed, fields });
}

function isFailure(outcome: unknown): outcome is NativeFailure {
  return typeof outcome === 'object' && outcome !== null && 'code' in outcome && 'detail' in outcome;
}
