import { expect } from 'vitest';
import { ERRORS, type ErrorCode, PROBLEM_CODES, type ProblemCode } from '../../src/errors.js';

/** Expects that a call is refused with a code and its status, and with a problem at a pointer if one is given. */
export async function expectRefusal(
  call: Promise<unknown>,
  code: ErrorCode,
  pointer?: string,
  problem?: ProblemCode,
): Promise<void> {
  const error = await call.then(
    () => expect.unreachable('the call was taken'),
    (error) => error,
  );
  expect(error).toMatchObject({ code, status: ERRORS[code].status });
  expect(error.detail).not.toBe('');
  if (pointer === undefined) return;
  const found: { pointer: string; code: string }[] = error.problems;
  const expected = { pointer, code: problem ?? expect.any(String), detail: expect.stringMatching(/./) };
  expect(found).toContainEqual(expected);
  for (const { code } of found) expect(Object.keys(PROBLEM_CODES)).toContain(code);
}
