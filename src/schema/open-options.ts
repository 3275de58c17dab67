import {
  callback,
  flag,
  integer,
  mapOf,
  members,
  name,
  type OptionCheck,
  secret,
  signal,
} from './option-checks.js';
import { checkMembers } from './options.js';
import { isStoreUrl, STORE_URL } from './service-address.js';

export const MAX_THREADS = 1024;
export const MAX_EMBED_WORKERS = 256;
export const MAX_VECTOR_MEGABYTES = 4_194_304;
/** Connections to a store for requests about records, unless a setting says otherwise. */
export const STORE_CONNECTIONS = 16;

const modelFunction = members({ dimensions: integer(1, 4096), embed: callback, fingerprint: name }, [
  'dimensions',
  'embed',
]);

/** A directory or a URL, or a function with its settings. */
const model: OptionCheck = (value, pointer) =>
  typeof value === 'string' ? name(value, pointer) : modelFunction(value, pointer);

/** What both kinds of places take. */
const OPENING = {
  embedWorkers: integer(1, MAX_EMBED_WORKERS),
  models: mapOf(model),
  warm: flag,
  signal,
  onProgress: callback,
};

// A client opens nothing, so these checks are in a file of their own, which is no part of it.
const DIRECTORY = members({ directory: name }, ['directory']);
const OPTIONS_OF_DIRECTORY = members(
  {
    readOnly: flag,
    threads: integer(1, MAX_THREADS),
    vectorMemoryMegabytes: integer(0, MAX_VECTOR_MEGABYTES),
    ...OPENING,
  },
  [],
);
const STORE = members({ store: secret(`a ${STORE_URL}`, isStoreUrl) }, ['store']);
const OPTIONS_OF_STORE = members(OPENING, []);

/** @throws {CosiftError} `invalid_request` */
export function checkDirectory(directory: unknown, options: object): void {
  checkMembers(DIRECTORY, { directory });
  checkMembers(OPTIONS_OF_DIRECTORY, options);
}

/** @throws {CosiftError} `invalid_request` */
export function checkStore(place: object, options: object): void {
  checkMembers(STORE, place);
  checkMembers(OPTIONS_OF_STORE, options);
}
