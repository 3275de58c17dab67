/** Describes a valid URL of a service. Paths are appended to it, and the key is sent in a header. */
export const SERVICE_URL = 'URL of http or https without credentials, query and fragment';

/** Describes a valid key: text that an HTTP header can carry. */
export const API_KEY = 'text of printable ASCII characters without spaces';

export function isServiceUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !/^https?:/i.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}

export function isApiKey(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text);
}

/** Describes a valid URL of a store. */
export const STORE_URL = 'URL such as postgres://USER@HOST/DATABASE';

export function isStoreUrl(text: unknown): text is string {
  return typeof text === 'string' && /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text);
}
