import { CosiftError, isErrorCode, type Problem } from '../../errors.js';
import type { NativeFailure } from './binding.js';

/** Turns a failure that crossed as a value into the error that callers catch. */
export function settle<T>(outcome: T | NativeFailure): T {
  if (isFailure(outcome)) throw errorOf(outcome);
  return outcome;
}

/** The error of a failure. A code that the table lacks is a defect of ours. */
export function errorOf({ code, detail, problems, facts }: NativeFailure): CosiftError {
  const fields = { ...(JSON.parse(facts) as object), engine: code };
  // Their codes are those of `PROBLEM_CODES`: a test holds the two lists to each other.
  const typed = problems as Problem[];
  return new CosiftError(isErrorCode(code) ? code : 'internal', detail, { problems: typed, fields });
}

function isFailure(outcome: unknown): outcome is NativeFailure {
  return typeof outcome === 'object' && outcome !== null && 'code' in outcome && 'detail' in outcome;
}
