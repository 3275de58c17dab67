import type { IncomingHttpHeaders } from 'node:http';
import { CosiftError } from '../../errors.js';

const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

/**
 * Returns the key that a request sends in the header `x-api-key` or as `authorization: Bearer KEY`; undefined when it
 * sends none. Next to `x-api-key`, another scheme of `authorization` is ignored, because a proxy may check it.
 *
 * @throws {CosiftError} `unauthorized` when `authorization` has no key, or when the headers have different keys.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-api-key'] || undefined;
  const { authorization } = headers;
  const bearer = BEARER.exec(authorization ?? '')?.[1];
  if (authorization !== undefined && bearer === undefined && (key === undefined || isBearer(authorization))) {
    throw new CosiftError('unauthorized', 'the header authorization must be "Bearer" and a key');
  }
  if (key !== undefined && bearer !== undefined && bearer !== key) {
    throw new CosiftError('unauthorized', 'the headers x-api-key and authorization have different keys');
  }
  return key === undefined ? bearer : String(key);
}

function isBearer(authorization: string): boolean {
  return /^bearer( |$)/i.test(authorization);
}
