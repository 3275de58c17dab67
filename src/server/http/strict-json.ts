import { checkJson } from '../../store/local/index.js';

/** Parses strict JSON: UTF-8, no duplicate key, no lone surrogate, no number beyond a double, `depth` levels. */
export function parseStrictJson(body: Buffer, depth: number): unknown {
  const fault = checkJson(body, depth);
  if (fault !== undefined) throw fault;
  return JSON.parse(body.toString('utf8'));
}
