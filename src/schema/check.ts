import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { CosiftError, type ErrorCode, type Problem } from '../errors.js';
import { COMPONENTS, type ComponentName } from './components.js';
import { LIST_OPERATORS, TIME_OPERATORS } from './filter.js';
import { instantOf } from './instants.js';
import { LIMITS, type Limits, MAX_BOOSTS, MAX_EXAMPLES, MAX_LISTED_VALUES } from './limits.js';
import { codeByPlace } from './plain.js';
import { problemsOf } from './problems-of.js';
import type { FilterGroup } from './types/filter.js';
import type {
  AliasRequest,
  DatabaseChanges,
  DatabaseSettings,
  DeleteRequest,
  EmbeddingsRequest,
  KeyRequest,
  MapRequest,
  QueryRequest,
  ReembeddingRequest,
  Search,
  SearchRequest,
  WebhookRequest,
} from './types/requests.js';

/**
 * Values with more parts get only the first error: the time to find every error grows with the square of the number of
 * parts, because the validator copies the errors found so far.
 */
const FULL_REPORT_PARTS = 1_000;

class Schemas {
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(components: Readonly<Record<string, object>>, allErrors: boolean) {
    this.#ajv = new Ajv2020({
      allErrors,
      strict: true,
      allowUnionTypes: true,
      strictRequired: false,
      discriminator: true,
      verbose: true,
      // To optimise the generated code takes a quarter of the time of the first check, and makes no check faster.
      code: { optimize: false },
      // The engine checks formats, because its messages are more precise than "must match format".
      validateFormats: false,
      // Takes half of the time of the first check. A test does it.
      validateSchema: false,
    });
    this.#ajv.addVocabulary(['components']);
    this.#ajv.addSchema({ $id: 'cosift', components: { schemas: components } });
  }

  errors(name: string, value: unknown): readonly ErrorObject[] {
    let validate = this.#compiled.get(name);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `cosift#/components/schemas/${name}` });
      this.#compiled.set(name, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []);
  }
}

/** Returns a function that checks that a value is an instance of one of the schemas, as {@link checkSchema} does. */
export function checkerOf<Name extends string>(components: Readonly<Record<Name, object>>) {
  let firstError: Schemas | undefined;
  let everyError: Schemas | undefined;
  return (name: Name, value: unknown): void => {
    firstError ??= new Schemas(components, false);
    let errors = firstError.errors(name, value);
    if (errors.length === 0) return;
    if (hasAtMost(FULL_REPORT_PARTS, value)) {
      everyError ??= new Schemas(components, true);
      errors = everyError.errors(name, value);
    }
    const problems = problemsOf(errors);
    const [first] = problems;
    const where = first?.pointer ? `${first.pointer}: ` : 'the body ';
    throw new CosiftError(codeByPlace(problems), `${where}${first?.detail ?? 'does not match its schema'}`, {
      problems,
    });
  };
}

/**
 * Checks that a value is an instance of the schema. It is not changed.
 *
 * @throws {CosiftError} `invalid_filter` when every problem is in the filter, otherwise `invalid_request`.
 */
export const checkSchema: (name: ComponentName, value: unknown) => void = checkerOf(COMPONENTS);

/** Whether `value` consists of at most `max` values: items, members, and itself. A vector counts as one. */
function hasAtMost(max: number, value: unknown): boolean {
  const parts = [value];
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    const inside: unknown[] = Array.isArray(part) ? part : Object.entries(part).map(partOf);
    if (parts.length + inside.length > max) return false;
    parts.push(...inside);
  }
  return true;
}

/** The value of a member; of a vector one number, because a vector of numbers has at most one error. */
function partOf([name, value]: [string, unknown]): unknown {
  const isVector =
    name === 'vector' && Array.isArray(value) && value.every((item) => typeof item === 'number');
  return isVector ? 0 : value;
}

/** Checks the members of a request by a schema. */
type SchemaCheck = (value: unknown) => void;

const checkSearch: SchemaCheck = (value) => checkSchema('SearchRequest', value);
const checkMap: SchemaCheck = (value) => checkSchema('MapRequest', value);
const checkQuery: SchemaCheck = (value) => checkSchema('QueryRequest', value);
const checkDelete: SchemaCheck = (value) => checkSchema('DeleteRequest', value);
const checkKey: SchemaCheck = (value) => checkSchema('KeyRequest', value);

export function checkSearchRequest(
  value: unknown,
  limits: Limits = LIMITS,
  check = checkSearch,
): SearchRequest {
  const request = checkWithText<SearchRequest>(value, limits, check);
  if (request.neighbours !== undefined && typeof request.passages !== 'number') {
    const detail = 'needs passages, the number of passages to show';
    throw refused('invalid_request', { pointer: '/neighbours', code: 'invalid_value', detail });
  }
  return request;
}

export function checkMapRequest(value: unknown, limits: Limits = LIMITS, check = checkMap): MapRequest {
  return checkWithText(value, limits, check);
}

/** Checks a request that may have a filter and a text to search for. */
function checkWithText<Request extends { search?: Search | undefined }>(
  value: unknown,
  limits: Limits,
  check: SchemaCheck,
): Request {
  checkWithFilter(value, limits, check);
  const request = value as Request;
  if (request.search !== undefined) {
    checkTextSize(request.search.text, '/search/text', limits);
    checkExamples(request.search);
  }
  return request;
}

export function checkEmbeddingsRequest(value: unknown, limits: Limits = LIMITS): EmbeddingsRequest {
  checkSchema('EmbeddingsRequest', value);
  const request = value as EmbeddingsRequest;
  const { input } = request;
  const texts = typeof input === 'string' ? [input] : input;
  for (const [at, text] of texts.entries()) checkTextSize(text, inputPointer(input, at), limits);
  return request;
}

/** The pointer to a text of a request for embeddings. */
export function inputPointer(input: EmbeddingsRequest['input'], at: number): string {
  return typeof input === 'string' ? '/input' : `/input/${at}`;
}

function checkTextSize(text: string | undefined, pointer: string, limits: Limits): void {
  const textBytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (textBytes > limits.search_text_bytes) {
    const detail = `has ${textBytes} bytes, at most ${limits.search_text_bytes} are taken`;
    throw refused('invalid_request', { pointer, code: 'value_too_long', detail });
  }
}

function checkExamples({ like }: Search): void {
  const { positive, negative = [] } = like ?? { positive: [] };
  const examples = positive.length + negative.length;
  if (examples > MAX_EXAMPLES) {
    const detail = `the examples are ${examples}, at most ${MAX_EXAMPLES} are taken`;
    throw refused('invalid_request', { pointer: '/search/like', code: 'invalid_value', detail });
  }
}

export function checkQueryRequest(value: unknown, limits: Limits = LIMITS, check = checkQuery): QueryRequest {
  checkWithFilter(value, limits, check);
  return value as QueryRequest;
}

/** Checks the filter of an export as that of a query. */
export function checkExportFilter(filter: unknown, limits: Limits = LIMITS): FilterGroup | undefined {
  return checkQueryRequest({ filter }, limits).filter as FilterGroup | undefined;
}

export function checkDeleteRequest(value: unknown, limits: Limits = LIMITS): DeleteRequest {
  checkWithFilter(value, limits, checkDelete);
  return value as DeleteRequest;
}

export function checkKeyRequest(value: unknown, limits: Limits = LIMITS): KeyRequest {
  checkWithFilter(value, limits, checkKey);
  return value as KeyRequest;
}

/** A function that checks a value by a schema, and returns it. */
function checked<T>(name: ComponentName): (value: unknown) => T {
  return (value) => {
    checkSchema(name, value);
    return value as T;
  };
}

export const checkDatabaseSettings = checked<DatabaseSettings>('DatabaseSettings');
export const checkDatabaseChanges = checked<DatabaseChanges>('DatabaseChanges');
export const checkAliasRequest = checked<AliasRequest>('AliasRequest');
export const checkReembeddingRequest = checked<ReembeddingRequest>('ReembeddingRequest');
export const checkSyncConfirmation = checked<{ withheld?: number }>('SyncConfirmation');

/** What a sync commits. */
export interface SyncCommit {
  epoch?: string;
  state?: object | null;
  keys?: string[];
  unwritten_since?: number;
  max?: number;
}

export const checkSyncCommit = checked<SyncCommit>('SyncCommit');
export const checkWebhookRequest = checked<WebhookRequest>('WebhookRequest');

function refused(code: ErrorCode, ...problems: Problem[]): CosiftError {
  return new CosiftError(code, `${problems[0]?.pointer}: ${problems[0]?.detail}`, { problems });
}

/**
 * Checks a request that may have filters: the depth and the size of each before the schema, whose time grows with the
 * filters, and their times after it.
 */
function checkWithFilter(value: unknown, limits: Limits, check: SchemaCheck): void {
  const wrongTimes = filtersOf(value).flatMap(([pointer, filter]) => checkFilter(filter, pointer, limits));
  check(value);
  if (wrongTimes.length > 0) throw refused('invalid_filter', ...wrongTimes);
}

/** The filters of a request that may have any shape, with their pointers. */
function filtersOf(value: unknown): [pointer: string, filter: unknown][] {
  const { filter, search } = (value ?? {}) as { filter?: unknown; search?: { boosts?: unknown } | null };
  const boosts: unknown = search?.boosts;
  // A list that is too long is refused by the schema.
  const items: readonly unknown[] = Array.isArray(boosts) ? boosts.slice(0, MAX_BOOSTS) : [];
  const filters = items.map((boost, at): [string, unknown] => [
    `/search/boosts/${at}/filter`,
    (boost as { filter?: unknown } | null | undefined)?.filter,
  ]);
  return [['/filter', filter] as [string, unknown], ...filters].filter(([, filter]) => filter !== undefined);
}

/** Checks the depth and the size of a filter. Returns the problems of its times. */
function checkFilter(filter: unknown, place: string, limits: Limits): Problem[] {
  const wrongTimes: Problem[] = [];
  let rules = 0;
  let listed = 0;
  const walk = (node: unknown, depth: number, pointer: string): void => {
    if (!isGroup(node)) {
      rules += 1;
      if (rules > limits.filter_rules) {
        const detail = `is more than the ${limits.filter_rules} rules of a filter`;
        throw refused('invalid_filter', { pointer, code: 'too_many_rules', detail });
      }
      const { operator, value } = (node ?? {}) as { operator?: unknown; value?: unknown };
      const place = `${pointer}/value`;
      if (LIST_OPERATORS.has(operator) && Array.isArray(value)) listed += value.length;
      if (listed > MAX_LISTED_VALUES) {
        const detail = `the lists of a filter have at most ${MAX_LISTED_VALUES} values`;
        throw refused('invalid_filter', { pointer: place, code: 'too_many_values', detail });
      }
      checkValueSize(value, place, limits);
      if (TIME_OPERATORS.has(operator) && typeof value === 'string' && instantOf(value) === undefined) {
        const detail = 'must be an ISO 8601 date or time, 2026-01-31T12:00:00Z';
        wrongTimes.push({ pointer: place, code: 'invalid_time', detail });
      }
      return;
    }
    if (depth > limits.filter_depth) {
      const detail = `is nested deeper than ${limits.filter_depth} groups`;
      throw refused('invalid_filter', { pointer, code: 'too_deep', detail });
    }
    if (!Array.isArray(node.rules)) return;
    for (const [i, child] of node.rules.entries()) walk(child, depth + 1, `${pointer}/rules/${i}`);
  };
  walk(filter, 1, place);
  return wrongTimes;
}

/** Checks the length of the value of a rule, or of each value of its list. */
function checkValueSize(value: unknown, pointer: string, limits: Limits): void {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const bytesOf = (item: unknown) => (typeof item === 'string' ? Buffer.byteLength(item) : 0);
  const at = values.findIndex((item) => bytesOf(item) > limits.filter_value_bytes);
  if (at < 0) return;
  const detail = `has ${bytesOf(values[at])} bytes, at most ${limits.filter_value_bytes} are taken`;
  const place = Array.isArray(value) ? `${pointer}/${at}` : pointer;
  throw refused('invalid_filter', { pointer: place, code: 'value_too_long', detail });
}

function isGroup(node: unknown): node is { rules?: unknown } {
  return typeof node === 'object' && node !== null && ('rules' in node || 'condition' in node);
}
