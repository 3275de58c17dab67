import { checkJson } from '../../store/local/index.js';

/**
 * Parses strict JSON: UTF-8 without duplicate members, lone surrogates and numbers beyond a double, nested at most
 * `depth` levels deep.
 */
export function parseStrictJson(body: Buffer, depth: number): unknown {
  const fault = checkJson(body, depth);
  if (fault !== undefined) throw fault;
  return JSON.parse(body.toString('utf8'));
}
