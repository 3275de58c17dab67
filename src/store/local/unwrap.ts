import { CosiftError, type ErrorFields, isErrorCode, type Problem } from '../../errors.js';
import { StaleError } from '../store-errors.js';
import type { NativeFailure } from './binding.js';

/** Returns the result of a native call, or throws the error of its failure: failures cross the binding as values. */
export function unwrap<T>(outcome: T | NativeFailure): T {
  if (isFailure(outcome)) throw errorOf(outcome);
  return outcome;
}

/** Returns the error of a failure. A code that is not in the error table is an internal error, with the code as a fact. */
export function errorOf({ code, detail, problems: given, facts }: NativeFailure): CosiftError {
  const fields: ErrorFields = JSON.parse(facts);
  // A test compares the codes of the engine's problems with `PROBLEM_CODES`.
  const problems = given as Problem[];
  if (code === 'stale') return new StaleError(detail, { problems, fields });
  return isErrorCode(code)
    ? new CosiftError(code, detail, { problems, fields })
    : new CosiftError('internal', detail, { problems, fields: { ...fields, engine: code } });
}

function isFailure(outcome: unknown): outcome is NativeFailure {
  return typeof outcome === 'object' && outcome !== null && 'code' in outcome && 'detail' in outcome;
}
