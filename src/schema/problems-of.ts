import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Problem } from '../errors.js';
import { notMember, notOfType, notOneOf, outOfRange, withoutMember } from './details.js';
import { escapeToken } from './pointer.js';
import { suggest } from './suggest.js';

const MAX_PROBLEMS = 20;

/** Only the first members of an object are searched for a misspelt one, because the search compares all names. */
const MAX_MEMBERS = 64;

/** Converts schema errors to at most {@link MAX_PROBLEMS} problems of the request, without duplicates. */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  // The errors of branches that did not match are left out. The error of the whole choice follows them.
  const choices = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    if (problems.size === MAX_PROBLEMS) break;
    // A wrong name is reported once, by the error of the keyword `propertyNames`.
    if (error.keyword === 'if' || error.propertyName !== undefined) continue;
    if (choices.some((choice) => choice !== error && error.schemaPath.startsWith(`${choice.schemaPath}/`))) {
      continue;
    }
    const problem = problemOf(error);
    problems.set(`${problem.pointer}\0${problem.detail}`, problem);
  }
  return [...problems.values()];
}

function problemOf(error: ErrorObject): Problem {
  const { instancePath: pointer, keyword } = error;
  const params = error.params as Record<string, unknown>;
  const invalid = (detail: string): Problem => ({ pointer, code: 'invalid_value', detail });
  const named = (detail: string): Problem => ({
    ...invalid(detail),
    ...(COLUMN.test(pointer) && { code: 'invalid_column' }),
  });
  switch (keyword) {
    case 'additionalProperties': {
      return unknownMember(String(params.additionalProperty), error);
    }
    case 'required':
      return missingMember(String(params.missingProperty), error);
    case 'discriminator': {
      const tag = String(params.tag);
      if (params.tagValue === undefined) return missingMember(tag, error);
      return choice(`${pointer}/${tag}`, params.tagValue, tagsOf(error));
    }
    case 'enum':
      return choice(pointer, error.data, params.allowedValues as unknown[]);
    case 'const':
      return choice(pointer, error.data, [params.allowedValue]);
    case 'type': {
      if (error.data === undefined) return { pointer, code: 'missing_member', detail: 'is missing' };
      const detail = notOfType(error.data, [params.type].flat().join(' or '));
      return { pointer, code: 'wrong_type', detail };
    }
    case 'propertyNames': {
      const name = escapeToken(String(params.propertyName));
      return { pointer: `${pointer}/${name}`, code: 'invalid_column', detail: 'is not a name for a column' };
    }
    case 'minimum':
    case 'maximum': {
      const { minimum, maximum } = error.parentSchema as { minimum?: number; maximum?: number };
      return invalid(outOfRange(error.data, minimum, maximum));
    }
    case 'minLength':
      return named('must not be empty');
    case 'minItems':
      return { ...invalid('must not be empty'), ...(RULES.test(pointer) && { code: 'empty_rules' }) };
    case 'oneOf':
    case 'anyOf':
      return noBranch(error);
    case 'minProperties':
    case 'maxProperties':
      if (pointer !== '') return invalid('must not be empty');
      return invalid('needs either "ids", or at least one of "filter" and "time_range"');
    default:
      return named(error.message ?? 'is not valid');
  }
}

// Pointers of members whose problems have specific codes.
const COLUMN = /\/column$/;
const RULES = /^\/filter(\/.*)?\/rules$/;
const OPERATOR = /^\/filter\/.*\/operator$/;
const CONDITION = /^\/filter(\/.*)?\/condition$/;

/** The problem of a value that is not one of the allowed ones. */
function choice(pointer: string, given: unknown, allowed: readonly unknown[]): Problem {
  const detail = notOneOf(given, allowed);
  if (!allowed.some((value) => typeof value === typeof given)) return { pointer, code: 'wrong_type', detail };
  if (OPERATOR.test(pointer)) return { pointer, code: 'unknown_operator', detail };
  return { pointer, code: CONDITION.test(pointer) ? 'unknown_condition' : 'invalid_value', detail };
}

function unknownMember(name: string, error: ErrorObject): Problem {
  const known = membersOf(error);
  const pointer = `${error.instancePath}/${escapeToken(name)}`;
  // A rule whose operator takes no value has one.
  const code = name === 'value' && known.includes('operator') ? 'unexpected_value' : 'unknown_member';
  return { pointer, code, detail: notMember(name, known) };
}

/** The problem of a missing member, or of an unknown member whose name is probably a misspelling of the missing one. */
function missingMember(name: string, error: ErrorObject): Problem {
  const misspelt = misspellingOf(name, error);
  if (misspelt !== undefined) return unknownMember(misspelt, error);
  return { pointer: error.instancePath, code: 'missing_member', detail: withoutMember(name) };
}

/** The unknown member of the invalid object whose name is probably a misspelling of `name`. */
function misspellingOf(name: string, error: ErrorObject): string | undefined {
  const known = membersOf(error);
  const given = Object.keys((error.data ?? {}) as object);
  if (given.includes(name)) return undefined;
  return given
    .slice(0, MAX_MEMBERS)
    .find((other) => !known.includes(other) && suggest(other, known) === name);
}

/** All values of the discriminator in the branches of the choice. */
function tagsOf(error: ErrorObject): string[] {
  const tag = String(error.params.tag);
  return branchesOf(error).flatMap(({ properties }) => properties?.[tag]?.enum ?? []);
}

/** All members that the schema of the invalid object or one of its branches allows. */
function membersOf(error: ErrorObject): string[] {
  const branches = [error.parentSchema as Branch | undefined, ...branchesOf(error)];
  return [...new Set(branches.flatMap((branch) => Object.keys(branch?.properties ?? {})))];
}

function branchesOf(error: ErrorObject): readonly Branch[] {
  return (error.parentSchema as { oneOf?: readonly Branch[] } | undefined)?.oneOf ?? [];
}

/** The part of a schema that is used here. */
interface Branch {
  properties?: Record<string, { enum?: readonly string[] }>;
}

/** The problem of a value that matches no branch. The branches differ by required members or by types. */
function noBranch(error: ErrorObject): Problem {
  const { instancePath } = error;
  const branches = error.schema as { required?: readonly string[]; type?: string; const?: unknown }[];
  const members = branches.flatMap(({ required }) => required ?? []);
  if (members.length === branches.length) {
    const misspelt = members.map((name) => misspellingOf(name, error)).find((name) => name !== undefined);
    if (misspelt !== undefined) return unknownMember(misspelt, error);
    const names = members.map((name) => `"${name}"`).join(', ');
    return { pointer: instancePath, code: 'invalid_value', detail: `must have exactly one of ${names}` };
  }
  const kinds = branches.map(({ type, const: value }) =>
    value === undefined ? type : JSON.stringify(value),
  );
  return { pointer: instancePath, code: 'wrong_type', detail: `must be ${kinds.join(' or ')} as described` };
}
