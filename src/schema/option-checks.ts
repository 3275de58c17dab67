import type { Problem } from '../errors.js';
import {
  notAnObject,
  notMember,
  notOfType,
  notOneOf,
  outOfRange,
  shown,
  typeName,
  withoutMember,
} from './details.js';
import { escapeToken, isPlain } from './plain.js';
import { suggest } from './suggest.js';

/** Returns the problems of a value; `pointer` is the JSON pointer to it. */
export type OptionCheck = (value: unknown, pointer: string) => Problem[];

export function integer(minimum: number, maximum: number): OptionCheck {
  return (value, pointer) => {
    if (!Number.isInteger(value)) return wrongType(pointer, notOfType(value, 'integer'));
    const inRange = (value as number) >= minimum && (value as number) <= maximum;
    return inRange ? [] : invalid(pointer, outOfRange(value, minimum, maximum));
  };
}

export function number(minimum: number, maximum: number): OptionCheck {
  return (value, pointer) => {
    if (typeof value !== 'number') return wrongType(pointer, notOfType(value, 'number'));
    return value >= minimum && value <= maximum ? [] : invalid(pointer, outOfRange(value, minimum, maximum));
  };
}

export function oneOf(...allowed: readonly string[]): OptionCheck {
  return (value, pointer) => {
    if (typeof value !== 'string') return wrongType(pointer, notOfType(value, 'string'));
    return allowed.includes(value) ? [] : invalid(pointer, notOneOf(value, allowed));
  };
}

export const flag: OptionCheck = (value, pointer) =>
  typeof value === 'boolean' ? [] : wrongType(pointer, notOfType(value, 'boolean'));

/** A text that is not empty. */
export const name: OptionCheck = (value, pointer) => {
  if (typeof value !== 'string') return wrongType(pointer, notOfType(value, 'string'));
  if (!value.isWellFormed()) return invalid(pointer, 'has half of a surrogate pair');
  return value === '' ? invalid(pointer, 'must not be empty') : [];
};

/** A value that is sent as a part of the request, whose schema checks it. */
export const partOfRequest: OptionCheck = () => [];

export const callback: OptionCheck = satisfying('a function', (value) => typeof value === 'function');

export const signal: OptionCheck = satisfying(
  'an AbortSignal',
  (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
);

/** A value for which `isAllowed` returns true. `what` describes it, with an article. */
export function satisfying(what: string, isAllowed: (value: unknown) => boolean): OptionCheck {
  return (value, pointer) => {
    if (isAllowed(value)) return [];
    const given = typeof value === 'string' ? shown(value) : typeName(value);
    return invalid(pointer, `is ${given}, must be ${what}`);
  };
}

/** A text that matches. `what` describes it, with an article. */
export function matching(what: string, pattern: RegExp): OptionCheck {
  const check = satisfying(what, (value) => pattern.test(value as string));
  return (value, pointer) =>
    typeof value === 'string' ? check(value, pointer) : wrongType(pointer, notOfType(value, 'string'));
}

/** A text for which `isAllowed` returns true. It does not appear in an error, because errors may be logged. */
export function secret(what: string, isAllowed: (text: string) => boolean): OptionCheck {
  return (value, pointer) => {
    if (typeof value !== 'string') return wrongType(pointer, notOfType(value, 'string'));
    return isAllowed(value) ? [] : invalid(pointer, `must be ${what}`);
  };
}

/** An object whose values pass a check. */
export function mapOf(check: OptionCheck): OptionCheck {
  return (value, pointer) => {
    if (!isPlain(value)) return wrongType(pointer, notAnObject(value));
    return Object.entries(value).flatMap(([key, member]) => check(member, `${pointer}/${escapeToken(key)}`));
  };
}

/** An object with these members and no others. A member that is undefined counts as absent. */
export function members(
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[],
): OptionCheck {
  const known = Object.keys(checks);
  return (value, pointer) => {
    if (!isPlain(value)) return wrongType(pointer, notAnObject(value));
    const given: Readonly<Record<string, unknown>> = value;
    const unknown = Object.keys(given).filter((name) => !known.includes(name));
    const missing = required.filter(
      // A misspelt name is reported as an unknown member only.
      (name) => given[name] === undefined && !unknown.some((other) => suggest(other, known) === name),
    );
    return [
      ...missing.map((name): Problem => {
        return { pointer, code: 'missing_member', detail: withoutMember(name) };
      }),
      ...unknown.map((name): Problem => {
        const place = `${pointer}/${escapeToken(name)}`;
        return { pointer: place, code: 'unknown_member', detail: notMember(name, known) };
      }),
      ...Object.entries(checks).flatMap(([name, check]) =>
        given[name] === undefined ? [] : check(given[name], `${pointer}/${name}`),
      ),
    ];
  };
}

function wrongType(pointer: string, detail: string): Problem[] {
  return [{ pointer, code: 'wrong_type', detail }];
}

function invalid(pointer: string, detail: string): Problem[] {
  return [{ pointer, code: 'invalid_value', detail }];
}
