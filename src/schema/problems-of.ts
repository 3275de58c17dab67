import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Problem } from '../errors.js';
import { escapeToken } from './pointer.js';
import { suggest } from './suggest.js';

/** Members of an object that are looked at for one that was misspelt: a slip is not among thousands. */
const MOST_MEMBERS = 64;

/** Says what a schema found in words about the request: one problem a fault, the same one only once, `most` at most. */
export function problemsOf(errors: readonly ErrorObject[], most: number): Problem[] {
  // A branch that did not match says only part of why; the error of the whole choice follows it.
  const choices = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    if (problems.size === most) break;
    // What is wrong with a name is reported once, by the keyword about names.
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
      return lackedMember(String(params.missingProperty), error);
    case 'discriminator': {
      const tag = String(params.tag);
      if (params.tagValue === undefined) return lackedMember(tag, error);
      return choice(`${pointer}/${tag}`, params.tagValue, tagsOf(error));
    }
    case 'enum':
      return choice(pointer, error.data, params.allowedValues as unknown[]);
    case 'const':
      return choice(pointer, error.data, [params.allowedValue]);
    case 'type': {
      if (error.data === undefined) return { pointer, code: 'missing_member', detail: 'is missing' };
      const types = [params.type].flat().join(' or ');
      const isFraction = types === 'integer' && typeof error.data === 'number';
      const detail = isFraction
        ? `is ${error.data}, must be an integer`
        : `is ${typeName(error.data)}, must be of type ${types}`;
      return { pointer, code: 'wrong_type', detail };
    }
    case 'propertyNames': {
      const name = escapeToken(String(params.propertyName));
      return { pointer: `${pointer}/${name}`, code: 'invalid_column', detail: 'is not a name for a column' };
    }
    case 'minimum':
    case 'maximum':
      return invalid(`is ${error.data}, must be ${rangeOf(error)}`);
    case 'instance': {
      // A key must not get into a log.
      const isShown = typeof error.data === 'string' && pointer !== '/key';
      const given = isShown ? JSON.stringify(error.data) : typeName(error.data);
      return invalid(`is ${given}, must be ${withArticle(String(error.schema))}`);
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

/** Members whose problems have codes of their own. */
const COLUMN = /\/column$/;
const RULES = /^\/filter(\/.*)?\/rules$/;
const OPERATOR = /^\/filter\/.*\/operator$/;
const CONDITION = /^\/filter(\/.*)?\/condition$/;

/** A value that is not one of those allowed. */
function choice(pointer: string, given: unknown, allowed: readonly unknown[]): Problem {
  const detail = notOneOf(given, allowed);
  if (!allowed.some((value) => typeof value === typeof given)) return { pointer, code: 'wrong_type', detail };
  if (OPERATOR.test(pointer)) return { pointer, code: 'unknown_operator', detail };
  return { pointer, code: CONDITION.test(pointer) ? 'unknown_condition' : 'invalid_value', detail };
}

function unknownMember(name: string, error: ErrorObject): Problem {
  const known = membersOf(error);
  const meant = suggest(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  const pointer = `${error.instancePath}/${escapeToken(name)}`;
  // The rule of another operator has a value.
  const code = name === 'value' && known.includes('operator') ? 'unexpected_value' : 'unknown_member';
  return { pointer, code, detail: `is not a known member; ${hint}` };
}

/** A member that is not there, unless it is there by a name that was probably meant to be its own. */
function lackedMember(name: string, error: ErrorObject): Problem {
  const misspelt = misspellingOf(name, error);
  if (misspelt !== undefined) return unknownMember(misspelt, error);
  return { pointer: error.instancePath, code: 'missing_member', detail: `lacks the member "${name}"` };
}

/** The unknown member of the faulty object that was probably meant to be `name`. */
function misspellingOf(name: string, error: ErrorObject): string | undefined {
  const known = membersOf(error);
  const given = Object.keys((error.data ?? {}) as object);
  if (given.includes(name)) return undefined;
  return given
    .slice(0, MOST_MEMBERS)
    .find((other) => !known.includes(other) && suggest(other, known) === name);
}

function notOneOf(given: unknown, allowed: readonly unknown[]): string {
  const meant = typeof given === 'string' ? suggest(given, allowed.map(String)) : undefined;
  if (meant !== undefined) return `is ${JSON.stringify(given)}; did you mean "${meant}"?`;
  return `must be ${allowed.length === 1 ? '' : 'one of '}${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** Every value that a branch of the discriminated choice takes as its tag. */
function tagsOf(error: ErrorObject): string[] {
  const tag = String(error.params.tag);
  return branchesOf(error).flatMap(({ properties }) => properties?.[tag]?.enum ?? []);
}

/** The members that the schema of the faulty object knows, by itself or in one of its branches. */
function membersOf(error: ErrorObject): string[] {
  const branches = [error.parentSchema as Branch | undefined, ...branchesOf(error)];
  return [...new Set(branches.flatMap((branch) => Object.keys(branch?.properties ?? {})))];
}

function branchesOf(error: ErrorObject): readonly Branch[] {
  return (error.parentSchema as { oneOf?: readonly Branch[] } | undefined)?.oneOf ?? [];
}

/** What is looked at of a schema. */
interface Branch {
  properties?: Record<string, { enum?: readonly string[] }>;
}

function rangeOf(error: ErrorObject): string {
  const { minimum, maximum } = error.parentSchema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}`;
  return minimum === undefined ? `at most ${maximum}` : `at least ${minimum}`;
}

function withArticle(noun: string): string {
  return `${/^[AEIOaeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** A choice between members when that is what the branches are, between types otherwise. */
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

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
