import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { didYouMean, type Limits } from '../../schema/index.js';

/** A query parameter of an operation. */
export interface Parameter<Value = unknown> {
  description: string;
  /** The schema of its text, for documents. */
  schema: { type: 'string'; pattern?: string; enum?: readonly string[] };
  /** What its text must be, for errors. */
  must(limits: Limits): string;
  /** Returns the value of a text; undefined for a text that does not match the schema, or is out of range. */
  parse(text: string, limits: Limits): Value | undefined;
  absent: Value;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The values of parameters, which a handler finds in the query of its request. */
export type Values<Query extends Parameters> = {
  readonly [Name in keyof Query]: Query[Name] extends Parameter<infer Value> ? Value : never;
};

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

export function wholeNumber<Absent extends number | undefined>(
  description: string,
  [min, max]: readonly [number, (limits: Limits) => number],
  absent: Absent,
): Parameter<number | Absent> {
  return {
    description,
    schema: { type: 'string', pattern: WHOLE.source },
    must: (limits) => `a whole number from ${min} to ${max(limits)}`,
    parse: (text, limits) => {
      const isInRange = WHOLE.test(text) && Number(text) >= min && Number(text) <= max(limits);
      return isInRange ? Number(text) : undefined;
    },
    absent,
  };
}

/** `true` or `false`, the default. */
export function flag(description: string, must: string): Parameter<boolean> {
  return {
    description,
    schema: { type: 'string', enum: ['true', 'false'] },
    must: () => must,
    parse: (text) => (['true', 'false'].includes(text) ? text === 'true' : undefined),
    absent: false,
  };
}

export function matching(
  schema: { type: 'string'; pattern: string },
  description: string,
  must: string,
): Parameter<string | undefined> {
  const pattern = new RegExp(schema.pattern);
  const parse = (text: string) => (pattern.test(text) ? text : undefined);
  return { description, schema, must: () => must, parse, absent: undefined };
}

/**
 * Replaces the query of each request by the values of the parameters of its operation. Refuses a parameter that the
 * operation does not have, one that is given more than once, one that does not have its schema, and a query that is not
 * encoded UTF-8.
 */
export function readQueryParameters(app: FastifyInstance, limits: Limits): void {
  // Not an asynchronous hook, because that would make every request wait.
  app.addHook('onRequest', (request, _reply, done) => {
    let failure: Error | undefined;
    try {
      request.query = valuesOf(request, limits);
    } catch (error) {
      failure = error as Error;
    }
    done(failure);
  });
}

function valuesOf({ raw, operation, query }: FastifyRequest, limits: Limits): Record<string, unknown> {
  if (!isEncoded(raw.url ?? '')) {
    throw invalid('the query has a "%" that does not begin a character of UTF-8');
  }
  const parameters = operation?.query ?? {};
  const given = query as Record<string, string>;
  checkNames(given, Object.keys(parameters));
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    values[name] = read(name, parameter, given[name], limits);
  }
  return values;
}

/** Whether every `%` in the query of a target begins a character. The parser leaves others as they are. */
function isEncoded(target: string): boolean {
  const start = target.indexOf('?');
  if (start < 0 || !target.includes('%', start)) return true;
  try {
    decodeURIComponent(target.slice(start));
    return true;
  } catch {
    return false;
  }
}

function checkNames(given: Record<string, unknown>, known: readonly string[]): void {
  for (const [name, value] of Object.entries(given)) {
    const parameter = `the query parameter ${JSON.stringify(name)}`;
    if (known.length === 0) throw invalid(`${parameter} is not known; this operation has none`);
    if (!known.includes(name)) {
      throw invalid(`${parameter} is not known${didYouMean(name, known) || `; known: ${known.join(', ')}`}`);
    }
    if (Array.isArray(value)) throw invalid(`${parameter} is given more than once`);
  }
}

function read(name: string, parameter: Parameter, text: string | undefined, limits: Limits): unknown {
  const { must, parse, absent } = parameter;
  if (text === undefined) return absent;
  const value = parse(text, limits);
  if (value === undefined) throw invalid(`the query parameter "${name}" must be ${must(limits)}`);
  return value;
}

function invalid(detail: string): CosiftError {
  return new CosiftError('invalid_request', detail);
}
