import type { ErrorCode, Problem } from '../errors.js';
/** Returns whether JSON represents a value by exactly its own members. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    typeof (value as { toJSON?: unknown }).toJSON !== 'function'
  );
}

/** Describes a value in an error: its type, with an article, or the value of a number. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const own: unknown = Array.isArray(value) ? 'array' : value.constructor?.name;
  const name = typeof own === 'string' ? own : 'object';
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name === 'Object' ? 'object' : name}`;
}

/** A whole number with its digits in groups of three. `toLocaleString` would load data of languages first, at every start. */
export function count(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** Escapes the name of a member for a JSON Pointer (RFC 6901). */
export function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The code of a request with these problems. */
export function codeByPlace(problems: readonly Problem[]): ErrorCode {
  return problems.every(({ pointer }) => /^(\/search\/boosts\/\d+)?\/filter(\/|$)/.test(pointer))
    ? 'invalid_filter'
    : 'invalid_request';
}
