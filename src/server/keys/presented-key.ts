import type { IncomingMessage } from 'node:http';
import { CosiftError } from '../../errors.js';

const HEADERS = ['authorization', 'x-api-key'];
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

/**
 * Returns the key that a request sends in the header `x-api-key` or as `authorization: Bearer KEY`; undefined when it
 * sends none. Next to `x-api-key`, another scheme of `authorization` is ignored, because a proxy may check it.
 *
 * @throws {CosiftError} `unauthorized` when `authorization` has no key, when the headers have different keys, or when one
 * of them is given more than once.
 */
export function presentedKey({ headers, rawHeaders }: IncomingMessage): string | undefined {
  checkGivenOnce(rawHeaders);
  const key = headers['x-api-key'] || undefined;
  const { authorization } = headers;
  const bearer = BEARER.exec(authorization ?? '')?.[1];
  if (authorization !== undefined && bearer === undefined && (key === undefined || isBearer(authorization))) {
    throw new CosiftError('unauthorized', 'the header authorization must be "Bearer", a space and a key');
  }
  if (key !== undefined && bearer !== undefined && bearer !== key) {
    throw new CosiftError('unauthorized', 'the headers x-api-key and authorization have different keys');
  }
  return key === undefined ? bearer : String(key);
}

/** Node keeps the first of several headers `authorization`, but a proxy may have checked another one. */
function checkGivenOnce(rawHeaders: readonly string[]): void {
  for (const header of HEADERS) {
    let count = 0;
    // The names are at even places, each before its value.
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string;
      if (name.length === header.length && name.toLowerCase() === header) count += 1;
    }
    if (count > 1) throw new CosiftError('unauthorized', `the header ${header} is given more than once`);
  }
}

function isBearer(authorization: string): boolean {
  return /^bearer(\s|$)/i.test(authorization);
}
