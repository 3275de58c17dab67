import { CosiftError, type Problem, type ProblemCode } from '../../errors.js';
import type { Action, FilterGroup, KeyRequest } from '../../schema/index.js';
import { ADMIN, type Caller } from './caller.js';
import { type StoredKey, withConditions } from './key-entry.js';
import { generateKey, hashKey } from './key-format.js';
import { parseTime } from './parse-time.js';

/**
 * Makes the key that `issuer` requests, and what is stored of it. The new key can do no more than its issuer.
 *
 * @throws {CosiftError} `invalid_request`, `invalid_time`; `forbidden` with a pointer to each member of the request that
 * exceeds the issuer.
 */
export function newKey(request: KeyRequest, issuer: Caller): { key: string; stored: StoredKey } {
  const { name, actions, databases } = request;
  const filter = combinedFilter(issuer.filter, request.filter);
  const expiresAt = request.expires_at === undefined ? issuer.expiresAt : expiryOf(request.expires_at);
  checkFilteredActions(actions, filter);
  checkWithinIssuer(request, expiresAt, issuer);
  const { keyId, key } = generateKey();
  const stored: StoredKey = {
    key_id: keyId,
    name,
    actions: [...actions],
    databases: databases === '*' ? databases : [...databases],
    created_at: new Date().toISOString(),
    ...(Number.isFinite(expiresAt) && { expires_at: new Date(expiresAt).toISOString() }),
    ...(filter !== undefined && { filter }),
    ancestors: issuer.keyId === ADMIN.keyId ? [] : [...issuer.ancestors, issuer.keyId],
    sha256: hashKey(key).toString('hex'),
  };
  return { key, stored };
}

/** Throws when a key with a filter would get an action that the filter cannot restrict. */
function checkFilteredActions(actions: readonly Action[], filter: FilterGroup | undefined): void {
  if (filter === undefined) return;
  const managing = actions.findIndex((action) => action.endsWith('.manage'));
  if (managing < 0) return;
  const detail = `a key with a filter cannot have the action "${actions[managing]}"`;
  const problems: Problem[] = [{ pointer: '/actions', code: 'invalid_value', detail }];
  throw new CosiftError('invalid_request', detail, { problems });
}

/** Throws `forbidden` when a request asks for more than its issuer has. */
function checkWithinIssuer({ actions, databases }: KeyRequest, expiresAt: number, issuer: Caller): void {
  const problems: Problem[] = [];
  const exceeds = (pointer: string, detail: string) =>
    problems.push({ pointer, code: 'invalid_value', detail });
  for (const [i, action] of actions.entries()) {
    if (!issuer.actions.has(action)) exceeds(`/actions/${i}`, `the issuer lacks the action "${action}"`);
  }
  for (const [i, database] of [databases].flat().entries()) {
    if (issuer.databases === undefined || issuer.databases.has(database)) continue;
    const which = database === '*' ? 'every database' : `the database "${database}"`;
    const pointer = Array.isArray(databases) ? `/databases/${i}` : '/databases';
    exceeds(pointer, `the issuer does not see ${which}`);
  }
  if (expiresAt > issuer.expiresAt) {
    const end = new Date(issuer.expiresAt).toISOString();
    exceeds('/expires_at', `the issuer itself expires earlier, at ${end}`);
  }
  const [first] = problems;
  if (first === undefined) return;
  const detail = `a key cannot do more than its issuer: ${first.pointer}: ${first.detail}`;
  throw new CosiftError('forbidden', detail, { problems });
}

/** Returns a filter that passes the records that pass both filters; each of its groups has a `condition`. */
function combinedFilter(
  outer: FilterGroup | undefined,
  inner: FilterGroup | undefined,
): FilterGroup | undefined {
  const [first, second] = [outer, inner].filter((filter) => filter !== undefined).map(withConditions);
  return second === undefined ? first : { condition: 'AND', rules: [first as FilterGroup, second] };
}

/** Milliseconds since 1970. */
function expiryOf(text: string): number {
  const time = parseTime(text);
  const refuse = (code: ProblemCode, detail: string) =>
    new CosiftError('invalid_time', `/expires_at: ${detail}`, {
      problems: [{ pointer: '/expires_at', code, detail }],
    });
  if (time === undefined)
    throw refuse('invalid_time', 'must be an ISO 8601 date, or date and time with Z or an offset');
  if (time <= Date.now()) throw refuse('invalid_value', 'is in the past, must be in the future');
  return time;
}
