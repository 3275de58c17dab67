import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { CosiftError } from '../errors.js';
import { EPOCH } from './changes.js';
import { DATABASE_ID } from './databases.js';
import { UUID } from './ids.js';
import { problemsOf } from './problems-of.js';
import { API_KEY, isApiKey, isServiceUrl, SERVICE_URL } from './service-address.js';

/** Maximum delay of a Node timer. */
const MAX_WAIT_MS = 2_147_483_647;

export const MAX_THREADS = 1024;
export const MAX_EMBED_WORKERS = 256;

const DATABASE_ID_TEXT = 'database id, which is 1 to 64 of a-z 0-9 _ -';
const RECORD_ID_TEXT = 'record id, which is an integer from 1 to 2^53 - 1 or a UUID';
const EPOCH_TEXT = 'value that a response of a change feed contained';

const integer = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;
const name = { type: 'string', minLength: 1 } as const;
const variant = { type: 'string', enum: ['a', 'b'] } as const;
const signal = { instance: 'AbortSignal' } as const;
const callback = { instance: 'function' } as const;
const databaseId = { type: 'string', instance: DATABASE_ID_TEXT } as const;
const recordId = { instance: RECORD_ID_TEXT } as const;
const epoch = { type: 'string', instance: EPOCH_TEXT } as const;
const position = integer(0, Number.MAX_SAFE_INTEGER);
const waitMs = integer(0, MAX_WAIT_MS);

/** Schemas of the arguments and options of the library and the client, by call. */
const OPTIONS = {
  directory: { directory: name },
  open: {
    threads: integer(1, MAX_THREADS),
    embedWorkers: integer(1, MAX_EMBED_WORKERS),
    models: { type: 'object', additionalProperties: name },
  },
  database: { id: databaseId },
  record: { id: recordId },
  call: { signal },
  page: { variant, signal },
  model: { model: name },
  reembed: { signal, onProgress: callback, cancelOnAbort: { type: 'boolean' } },
  changes: { after: position, limit: integer(1, 1000), waitMs, epoch },
  follow: { after: position, waitMs, epoch },
  client: {
    url: { instance: SERVICE_URL },
    key: { type: 'string', instance: API_KEY },
    retries: integer(0, 100),
    maxWaitMs: integer(0, MAX_WAIT_MS),
    fetch: callback,
  },
  revocation: { signal, descendants: { type: 'boolean' } },
} as const;

const REQUIRED: Partial<Record<OptionsName, readonly string[]>> = {
  directory: ['directory'],
  database: ['id'],
  record: ['id'],
  model: ['model'],
  client: ['url', 'key'],
};

export type OptionsName = keyof typeof OPTIONS;

/** Checks of values that JSON Schema cannot describe. */
const INSTANCES: Record<string, (value: unknown) => boolean> = {
  AbortSignal: (value) =>
    typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
  function: (value) => typeof value === 'function',
  [DATABASE_ID_TEXT]: (value) => typeof value !== 'string' || DATABASE_ID.test(value),
  [RECORD_ID_TEXT]: isRecordId,
  [EPOCH_TEXT]: (value) => typeof value !== 'string' || EPOCH.test(value),
  [SERVICE_URL]: isServiceUrl,
  [API_KEY]: (value) => typeof value !== 'string' || isApiKey(value),
};

const ajv = new Ajv2020({ allErrors: true, strict: true, verbose: true });
ajv.addKeyword({
  keyword: 'instance',
  validate: (kind: string, value: unknown) => INSTANCES[kind]?.(value) ?? false,
});
const compiled = new Map<OptionsName, ValidateFunction>();

/**
 * Checks the options of a call by `OPTIONS`. A member that is undefined counts as absent.
 *
 * @throws {CosiftError} `invalid_request` that names each wrong option, its value and what is allowed.
 */
export function checkOptions(name: OptionsName, options: object): void {
  let validate = compiled.get(name);
  if (validate === undefined) {
    validate = ajv.compile({
      type: 'object',
      additionalProperties: false,
      properties: OPTIONS[name],
      required: REQUIRED[name] ?? [],
    });
    compiled.set(name, validate);
  }
  if (validate(options)) return;
  const problems = problemsOf(validate.errors ?? []);
  const detail = problems
    .map(({ pointer, detail }) =>
      pointer === '' ? `the options: ${detail}` : `${optionOf(pointer)}: ${detail}`,
    )
    .join('; ');
  throw new CosiftError('invalid_request', detail, { problems });
}

function isRecordId(value: unknown): boolean {
  if (typeof value === 'string') return UUID.test(value);
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function optionOf(pointer: string): string {
  const path = pointer.slice(1).split('/');
  return path.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}
