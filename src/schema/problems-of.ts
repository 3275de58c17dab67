import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Problem } from '../errors.js';
import {
  notMember,
  notOfType,
  notOneOf,
  notWhatItMustBe,
  outOfRange,
  shown,
  tooMany,
  typeName,
  withoutMember,
} from './details.js';
import { column } from './filter.js';
import { creatorId, DATABASE_ID, EPOCH, shortId, textId, UUID } from './ids.js';
import { escapeToken } from './plain.js';
import { suggest } from './suggest.js';
import { valueFormat } from './value-formats.js';
import { url } from './webhooks.js';

/** What a text must be to match each pattern of the schemas, for people. */
export const PATTERN_MEANINGS: Readonly<Record<string, string>> = {
  [column.pattern]: 'text without control characters',
  [DATABASE_ID.source]: 'the id of a database: 1 to 64 of a-z 0-9 _ -',
  [UUID.source]: 'a UUID with hyphens',
  [textId.pattern]: 'a UUID with hyphens, or key: and a key',
  [EPOCH.source]: 'the epoch of a change feed: 32 hexadecimal digits',
  [shortId.pattern]: '12 of a-z 0-9',
  [creatorId.pattern]: '12 of a-z 0-9, or admin',
  [valueFormat.pattern]: '0.00 or .00 with 1 to 15 decimals, .#, python, True or TRUE',
  [url.pattern]: 'a URL of http or https without spaces',
};

const MAX_PROBLEMS = 20;

/** Only the first members of an object are searched for a misspelt one, because the search compares all names. */
const MAX_MEMBERS = 64;

/** Converts schema errors to at most {@link MAX_PROBLEMS} problems of the request, without duplicates. */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  const choices = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf').map(choiceOf);
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    if (problems.size === MAX_PROBLEMS) break;
    // A wrong name is reported once, by the error of the keyword `propertyNames`.
    if (error.keyword === 'if' || error.propertyName !== undefined) continue;
    if (choices.some((choice) => isCovered(error, choice))) continue;
    const problem = problemOf(error);
    problems.set(`${problem.pointer}\0${problem.detail}`, problem);
  }
  return [...problems.values()];
}

/** The error of a choice without a branch that matches. */
interface Choice {
  error: ErrorObject;
  /** Schema path of the only branch that takes values of this type, if there is one. Its errors say more. */
  intended: string | undefined;
}

function choiceOf(error: ErrorObject): Choice {
  const fitting = (error.schema as Branch[]).flatMap(({ type, const: value }, i) =>
    value === undefined && hasType(error.data, type) ? [`${error.schemaPath}/${i}/`] : [],
  );
  return { error, intended: fitting.length === 1 ? fitting[0] : undefined };
}

/** Whether the error of the choice, or of its intended branch, is reported instead of `error`. */
function isCovered(error: ErrorObject, { error: choice, intended }: Choice): boolean {
  if (error === choice) return intended !== undefined;
  const { instancePath, schemaPath } = error;
  if (instancePath !== choice.instancePath && !instancePath.startsWith(`${choice.instancePath}/`))
    return false;
  if (!schemaPath.startsWith(`${choice.schemaPath}/`)) return false;
  return intended === undefined || !schemaPath.startsWith(intended);
}

function hasType(value: unknown, type: string | undefined): boolean {
  return type === typeName(value) || (type === 'integer' && typeof value === 'number');
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
    case 'exclusiveMinimum':
      return invalid(`is ${error.data}, must be greater than ${params.limit}`);
    case 'minLength':
      return named('must not be empty');
    case 'maxLength':
      return named(tooMany([...(error.data as string)].length, params.limit, 'characters'));
    case 'maxItems':
      return invalid(tooMany((error.data as unknown[]).length, params.limit, 'items'));
    case 'uniqueItems': {
      const { i, j } = params as { i: number; j: number };
      const items = [i, j].sort((a, b) => a - b);
      return invalid(`has ${shown((error.data as unknown[])[i])} twice, as items ${items.join(' and ')}`);
    }
    case 'pattern':
      return named(notWhatItMustBe(error.data, PATTERN_MEANINGS[String(error.schema)] ?? 'allowed'));
    case 'minItems':
      return { ...invalid('must not be empty'), ...(RULES.test(pointer) && { code: 'empty_rules' }) };
    case 'oneOf':
    case 'anyOf':
      return noBranch(error);
    case 'maxProperties':
      if (pointer !== '')
        return invalid(tooMany(Object.keys(error.data as object).length, params.limit, 'members'));
      return invalid('needs either "ids", or at least one of "filter" and "time_range"');
    case 'minProperties':
      if (pointer !== '') return invalid('must not be empty');
      return invalid('needs either "ids", or at least one of "filter" and "time_range"');
    default:
      return named(error.message ?? 'is not valid');
  }
}

// Pointers of members whose problems have specific codes.
const COLUMN = /(\/column|^\/distinct)$/;
const RULES = /^(\/search\/boosts\/\d+)?\/filter(\/.*)?\/rules$/;
const OPERATOR = /^(\/search\/boosts\/\d+)?\/filter\/.*\/operator$/;
const CONDITION = /^(\/search\/boosts\/\d+)?\/filter(\/.*)?\/condition$/;

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
  const { operator } = (error.data ?? {}) as { operator?: unknown };
  if (name === 'value' && known.includes('operator') && typeof operator === 'string') {
    return {
      pointer,
      code: 'unexpected_value',
      detail: `must be absent, because "${operator}" takes no value`,
    };
  }
  return { pointer, code: 'unknown_member', detail: notMember(name, known) };
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
  type?: string;
  const?: unknown;
  required?: readonly string[];
  properties?: Record<string, { enum?: readonly string[] }>;
}

/** The problem of a value that matches no branch. The branches differ by required members or by types. */
function noBranch(error: ErrorObject): Problem {
  const { instancePath } = error;
  const branches = error.schema as Branch[];
  const members = branches.flatMap(({ required }) => required ?? []);
  if (members.length === branches.length) {
    const misspelt = members.map((name) => misspellingOf(name, error)).find((name) => name !== undefined);
    if (misspelt !== undefined) return unknownMember(misspelt, error);
    const names = members.map((name) => `"${name}"`).join(', ');
    return { pointer: instancePath, code: 'invalid_value', detail: `must have exactly one of ${names}` };
  }
  const kinds = branches.map(({ type, const: value }) =>
    value === undefined ? withArticle(String(type)) : JSON.stringify(value),
  );
  const isOfAType = branches.some(({ type }) => hasType(error.data, type));
  const detail = notWhatItMustBe(error.data, kinds.join(' or '));
  return { pointer: instancePath, code: isOfAType ? 'invalid_value' : 'wrong_type', detail };
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
