import type { Filter } from '../schema/index.js';
import { jsonDepth, LIMITS } from '../schema/limits.js';
import { numberOf } from './values.js';
import { WhereError } from './where-error.js';

/** A text of JSON with the colon after it if it is the name of a member, a number, or the end or begin of a value. */
const PART = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/gs;

/** Parses a rule or a group as JSON. Its members are left to the service, which refuses the same numbers and names. */
export function parseJsonFilter(text: string): Filter {
  let filter: Filter;
  try {
    filter = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const [, reason = message, at] = /^(.*) in JSON at position (\d+)/.exec(message) ?? [];
    // Node leaves the place of some mistakes out, and shows the text instead.
    if (at === undefined) throw new WhereError(`not JSON: ${reason}`);
    throw new WhereError(`not JSON: ${reason}`, { text, at: Number(at) });
  }
  checkParts(text);
  if (!['rules', 'column', 'operator'].some((name) => Object.hasOwn(filter, name))) {
    throw new WhereError('rules is missing; a filter of a single rule has column and operator');
  }
  return filter;
}

/**
 * Refuses what `JSON.parse` accepts without an error: a number that it rounds, a member that is given twice, and nesting
 * so deep that a recursive function would overflow the stack. `text` must be valid JSON: otherwise, looking for the end
 * of each quote could take quadratic time.
 */
function checkParts(text: string): void {
  const most = jsonDepth(LIMITS);
  const open: Set<string>[] = [];
  for (const { 0: part, 1: colon, index } of text.matchAll(PART)) {
    if (colon !== undefined) {
      const name: string = JSON.parse(part.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) throw new WhereError(`the member "${name}" is given twice`, { text, at: index });
      names?.add(name);
    } else if (part === '{' || part === '[') {
      if (open.length === most) {
        throw new WhereError(`more than ${most} objects and arrays are open here`, { text, at: index });
      }
      open.push(new Set());
    } else if (part === '}' || part === ']') open.pop();
    else if (!part.startsWith('"')) {
      const number = numberOf(part);
      if (typeof number === 'string') throw new WhereError(number, { text, at: index });
    }
  }
}
