import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Problem } from '../errors.js';
import { suggest } from './suggest.js';

/** Says what a schema found in words about the request: one problem a fault, the same one only once. */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  // A branch that did not match says only part of why; the error of the whole choice follows it.
  const choices = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  const problems = new Map<string, Problem>();
  for (const error of errors) {
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
  const { instancePath, keyword } = error;
  const params = error.params as Record<string, unknown>;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      return { pointer: `${instancePath}/${escapeToken(name)}`, detail: unknownMember(name, error) };
    }
    case 'required':
      return { pointer: instancePath, detail: `lacks the member "${params.missingProperty}"` };
    case 'discriminator': {
      const tag = String(params.tag);
      if (params.tagValue === undefined)
        return { pointer: instancePath, detail: `lacks the member "${tag}"` };
      return { pointer: `${instancePath}/${tag}`, detail: notOneOf(params.tagValue, tagsOf(error)) };
    }
    case 'enum':
      return { pointer: instancePath, detail: notOneOf(error.data, params.allowedValues as unknown[]) };
    case 'const':
      return { pointer: instancePath, detail: notOneOf(error.data, [params.allowedValue]) };
    case 'type': {
      if (error.data === undefined) return { pointer: instancePath, detail: 'is missing' };
      const types = [params.type].flat().join(' or ');
      return { pointer: instancePath, detail: `is ${typeName(error.data)}, must be of type ${types}` };
    }
    case 'propertyNames':
      return {
        pointer: `${instancePath}/${escapeToken(String(params.propertyName))}`,
        detail: 'is not a name for a column',
      };
    case 'minLength':
      return { pointer: instancePath, detail: 'must not be empty' };
    case 'minItems':
      return { pointer: instancePath, detail: 'must not be empty' };
    case 'oneOf':
    case 'anyOf':
      return { pointer: instancePath, detail: noBranch(error) };
    case 'minProperties':
    case 'maxProperties':
      if (instancePath !== '') return { pointer: instancePath, detail: 'must not be empty' };
      return {
        pointer: instancePath,
        detail: 'needs either "ids", or at least one of "filter" and "time_range"',
      };
    default:
      return { pointer: instancePath, detail: error.message ?? 'is not valid' };
  }
}

function unknownMember(name: string, error: ErrorObject): string {
  const known = Object.keys((error.parentSchema?.properties ?? {}) as object);
  const meant = suggest(name, known);
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `is not a known member; ${hint}`;
}

function notOneOf(given: unknown, allowed: readonly unknown[]): string {
  const meant = typeof given === 'string' ? suggest(given, allowed.map(String)) : undefined;
  if (meant !== undefined) return `is ${JSON.stringify(given)}; did you mean "${meant}"?`;
  return `must be ${allowed.length === 1 ? '' : 'one of '}${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** Every value that a branch of the discriminated choice takes as its tag. */
function tagsOf(error: ErrorObject): string[] {
  const { oneOf } = error.parentSchema as {
    oneOf: { properties: Record<string, { enum?: readonly string[] }> }[];
  };
  return oneOf.flatMap(({ properties }) => properties[String(error.params.tag)]?.enum ?? []);
}

/** A choice between members when that is what the branches are, between types otherwise. */
function noBranch(error: ErrorObject): string {
  const branches = error.schema as { required?: readonly string[]; type?: string; const?: unknown }[];
  const members = branches.flatMap(({ required }) => required ?? []);
  if (members.length === branches.length) {
    return `must have exactly one of ${members.map((name) => `"${name}"`).join(', ')}`;
  }
  const kinds = branches.map(({ type, const: value }) =>
    value === undefined ? type : JSON.stringify(value),
  );
  return `must be ${kinds.join(' or ')} as described`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
