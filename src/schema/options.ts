import { CosiftError } from '../errors.js';
import { DATABASE_ID, EPOCH, isKeyReference, UUID } from './ids.js';
import {
  callback,
  flag,
  integer,
  matching,
  members,
  name,
  number,
  type OptionCheck,
  partOfRequest,
  satisfying,
  secret,
  signal,
} from './option-checks.js';
import { API_KEY, isApiKey, isServiceUrl, SERVICE_URL } from './service-address.js';

/** Maximum delay of a Node timer. */
const MAX_WAIT_MS = 2_147_483_647;

const databaseId = matching('a database id, which is 1 to 64 of a-z 0-9 _ -', DATABASE_ID);
const recordId = satisfying(
  'a record id, which is an integer from 1 to 2^53 - 1, a UUID, or key: and a key of up to 512 bytes',
  isRecordId,
);
const epoch = matching('a value that a response of a change feed contained', EPOCH);
const position = integer(0, Number.MAX_SAFE_INTEGER);
const waitMs = integer(0, MAX_WAIT_MS);

const selection = { filter: partOfRequest, timeRange: partOfRequest, signal };
const score = { threshold: number(0, 1), lexical: number(0, 1), prefix: flag, boosts: partOfRequest };
const page = {
  filter: partOfRequest,
  timeRange: partOfRequest,
  limit: integer(1, 100),
  cursor: name,
  total: flag,
  facets: partOfRequest,
  explain: flag,
  columns: partOfRequest,
  distinct: partOfRequest,
  vectors: flag,
};
const passages = { passages: partOfRequest, neighbours: partOfRequest };
const search = { ...page, ...score, ...passages, highlights: flag };

/**
 * Checks of the arguments and options of the library and the client, by call.
 *
 * They are not a JSON schema, because the client runs where a schema cannot be compiled: in a browser whose content
 * security policy forbids `eval`.
 */
export const OPTIONS = {
  database: { id: databaseId },
  alias: { name: databaseId, database: databaseId },
  aliasName: { name: databaseId },
  record: { id: recordId },
  records: { ids: satisfying('a list', Array.isArray) },
  call: { signal },
  get: { vectors: flag, signal },
  patch: { ifChangedAt: name, signal },
  upsert: { signal, onProgress: callback },
  replace: { maxDeletes: integer(0, Number.MAX_SAFE_INTEGER), signal, onProgress: callback },
  export: { filter: partOfRequest, vectors: flag, signal },
  search: { ...search, signal },
  batchSearch: { ...search, search: partOfRequest },
  query: { ...page, sort: partOfRequest, signal },
  map: { ...selection, ...score, search: partOfRequest, columns: partOfRequest },
  delete: { ...selection, ids: partOfRequest },
  backup: { database: databaseId, signal, onProgress: callback },
  model: { model: name },
  embed: { model: name, kind: name, signal },
  reembed: { signal, onProgress: callback, cancelOnAbort: flag },
  changes: { after: position, limit: integer(1, 1000), waitMs, epoch },
  follow: { after: position, waitMs, epoch },
  client: {
    url: satisfying(`a ${SERVICE_URL}`, isServiceUrl),
    key: secret(`a ${API_KEY}`, isApiKey),
    retries: integer(0, 100),
    maxWaitMs: waitMs,
    fetch: callback,
  },
  revocation: { signal, descendants: flag },
  named: { id: name },
} as const satisfies Record<string, Readonly<Record<string, OptionCheck>>>;

const REQUIRED: Partial<Record<OptionsName, readonly string[]>> = {
  database: ['id'],
  alias: ['name', 'database'],
  aliasName: ['name'],
  record: ['id'],
  records: ['ids'],
  batchSearch: ['search'],
  model: ['model'],
  client: ['url', 'key'],
  named: ['id'],
};

/** What to search for, where that is not a text alone. */
export const SEARCH_QUERY: OptionCheck = members(
  { text: name, vector: partOfRequest, like: partOfRequest },
  [],
);

export type OptionsName = keyof typeof OPTIONS;

/**
 * Checks the options of a call by `OPTIONS`. A member that is undefined counts as absent.
 *
 * @throws {CosiftError} `invalid_request` that names each wrong option, its value and what is allowed.
 */
export function checkOptions(name: OptionsName, options: object): void {
  checkMembers(members(OPTIONS[name], REQUIRED[name] ?? []), options);
}

/** Checks the object at `place`. @throws {CosiftError} `invalid_request` as {@link checkOptions}. */
export function checkMembers(check: OptionCheck, options: object, place = ''): void {
  const problems = check(options, place);
  if (problems.length === 0) return;
  const detail = problems
    .map(({ pointer, detail }) =>
      pointer === '' ? `the options: ${detail}` : `${optionOf(pointer)}: ${detail}`,
    )
    .join('; ');
  throw new CosiftError('invalid_request', detail, { problems });
}

function isRecordId(value: unknown): boolean {
  if (typeof value === 'string') return UUID.test(value) || isKeyReference(value);
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** Returns a JSON pointer into the options as a path of members, such as `filter.rules.0`. */
export function optionOf(pointer: string): string {
  const path = pointer.slice(1).split('/');
  return path.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}
