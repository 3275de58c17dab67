import { nameOf } from './plain.js';
import { suggest } from './suggest.js';

// The details of problems that the check of requests and the check of options share.

export function notMember(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `is not a known member; ${hint}`;
}

export function withoutMember(name: string): string {
  return `lacks the member "${name}"`;
}

/** `type` is the name of a JSON type, or several names. */
export function notOfType(given: unknown, type: string): string {
  if (typeof given === 'number' && type.startsWith('integer')) return `is ${given}, must be an ${type}`;
  return `is ${typeName(given)}, must be of type ${type}`;
}

/** What is given is not an object, or one such as a `Map` that JSON does not represent by its members. */
export function notAnObject(given: unknown): string {
  const isOther = typeof given === 'object' && given !== null && !Array.isArray(given);
  return isOther ? `is ${nameOf(given)}, must be a plain object` : notOfType(given, 'object');
}

export function notOneOf(given: unknown, allowed: readonly unknown[]): string {
  const meant = typeof given === 'string' ? suggest(given, allowed.map(String)) : undefined;
  if (meant !== undefined) return `is ${JSON.stringify(given)}; did you mean "${meant}"?`;
  return `must be ${allowed.length === 1 ? '' : 'one of '}${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
}

export function outOfRange(given: unknown, minimum?: number, maximum?: number): string {
  if (minimum === undefined) return `is ${given}, must be at most ${maximum}`;
  if (maximum === undefined) return `is ${given}, must be at least ${minimum}`;
  return `is ${given}, must be from ${minimum} to ${maximum}`;
}

/** There are `count` characters or items, and at most `max` are allowed. */
export function tooMany(count: number, max: unknown, of: string): string {
  return `has ${count} ${of}, at most ${max} are allowed`;
}

export function notWhatItMustBe(given: unknown, meaning: string): string {
  return `is ${shown(given)}, must be ${meaning}`;
}

const SHOWN_LETTERS = 64;

/** A value for people: a text or number itself, shortened if it is long, otherwise the name of its type. */
export function shown(value: unknown): string {
  if (typeof value === 'object') return typeName(value);
  const letters = [...String(value).slice(0, 2 * SHOWN_LETTERS)];
  const text = letters.length > SHOWN_LETTERS ? `${letters.slice(0, SHOWN_LETTERS).join('')}…` : value;
  return JSON.stringify(text);
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
