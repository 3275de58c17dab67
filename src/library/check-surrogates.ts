import { CosiftError } from '../errors.js';
import { jsonDepth, LIMITS } from '../schema/index.js';
import { escapeToken } from '../schema/pointer.js';

const MAX_DEPTH = jsonDepth(LIMITS);

/**
 * Returns the request. A service finds half of a surrogate pair when it parses the body; a request of the library is not
 * parsed, so it is checked here and fails with the same error.
 *
 * @throws {CosiftError} `invalid_json` for a string or a member name with half of a surrogate pair.
 */
export function checkSurrogates<T>(request: T): T {
  const pointer = loneSurrogateIn(request, 0);
  if (pointer === undefined) return request;
  const detail = 'half of a surrogate pair';
  throw new CosiftError('invalid_json', `${pointer}: ${detail}`, {
    problems: [{ pointer, code: 'lone_surrogate', detail }],
  });
}

/**
 * Returns the pointer to the first string that is not well-formed, relative to `value`; for a member name, to its object.
 * A request that is nested too deep is left to the check of its schema.
 */
function loneSurrogateIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : '';
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    // A loop without entries: a vector has thousands of values.
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === 'number') continue;
      const inner = loneSurrogateIn(value[at], depth + 1);
      if (inner !== undefined) return `/${at}${inner}`;
    }
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (!name.isWellFormed()) return '';
    const inner = loneSurrogateIn(member, depth + 1);
    if (inner !== undefined) return `/${escapeToken(name)}${inner}`;
  }
  return undefined;
}
