import { isIP } from 'node:net';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { count } from '../schema/plain.js';
import { isStoreUrl, STORE_URL } from '../schema/service-address.js';
import { AddressPolicy } from './address-policy.js';
import { isEndpoint, parseEndpoint } from './endpoint.js';

/**
 * Returns the value of a setting from what a flag, an environment variable or the config file gives. Throws an Error
 * whose message completes "SETTING: …".
 */
export interface Parser<T = unknown, Absent = unknown> {
  (value: unknown): T;
  /** The values that are allowed, for people. */
  allowed: string;
  /** The value of a setting that is not given and has no default. */
  absent: Absent;
}

const parser = <T>(allowed: string, parse: (value: unknown) => T): Parser<T, undefined> =>
  Object.assign(parse, { allowed, absent: undefined });

const listParser = (
  allowed: string,
  parse: (value: unknown) => string[],
): Parser<readonly string[], readonly string[]> => Object.assign(parse, { allowed, absent: [] });

export const text = parser('text', (value): string => {
  if (typeof value !== 'string' || value === '') throw new Error('must be a text that is not empty');
  return value;
});

/** The message contains no value, because a URL may have a password. */
export const storeUrl = parser(STORE_URL, (value): string => {
  if (!isStoreUrl(value)) throw new Error(`must be a ${STORE_URL}`);
  return value;
});

/** The URL of a store as it may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  if (shown.searchParams.has('password')) shown.searchParams.set('password', '***');
  return shown.href;
}

/** Printable ASCII without spaces: what an HTTP header can carry unquoted. */
export const headerText = parser('printable ASCII without spaces', (value): string => {
  if (!/^[\x21-\x7e]+$/.test(text(value))) throw new Error('must be printable ASCII without spaces');
  return value as string;
});

export const integer = (min: number, max: number): Parser<number, undefined> =>
  parser(`integer, ${count(min)} to ${count(max)}`, (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
      return number;
    }
    throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`);
  });

export const boolean = parser('`true`, `false`', (value): boolean => {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new Error(`must be true or false, not ${JSON.stringify(value)}`);
});

export const oneOf = (values: readonly string[]): Parser<string, undefined> =>
  parser(values.map((value) => `\`${value}\``).join(', '), (value) => {
    if (values.includes(value as string)) return value as string;
    throw new Error(`must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
  });

/**
 * Takes `NAME=SOURCE` pairs separated by commas, a list of such texts, or an object of sources by name. A source is a
 * directory or the URL of an endpoint.
 */
export const modelSources = Object.assign(sourcesOf, {
  allowed: '`NAME=DIRECTORY` or `NAME=URL`, separated by commas',
  absent: {} as Record<string, string>,
});

function sourcesOf(value: unknown): Record<string, string> {
  const pairs = isObject(value)
    ? Object.entries(value)
    : listOf(value).map((pair) =>
        typeof pair === 'string' ? /^([^=]+)=(.+)$/s.exec(pair.trim())?.slice(1) : undefined,
      );
  const sources = new Map<string, string>();
  for (const pair of pairs) {
    const [name, source] = pair ?? [];
    if (typeof name !== 'string' || typeof source !== 'string' || source === '') {
      throw new Error('must be NAME=DIRECTORY or NAME=URL');
    }
    if (sources.has(name)) throw new Error(`names ${name} twice`);
    sources.set(name, isEndpoint(source) ? checkEndpoint(name, source) : path.resolve(source));
  }
  return Object.fromEntries(sources);
}

function checkEndpoint(name: string, source: string): string {
  try {
    parseEndpoint(source);
    return source;
  } catch (error) {
    throw new Error(`the URL of ${name} ${(error as Error).message}`);
  }
}

/** Takes addresses, CIDR ranges and host names separated by commas, or a list of such texts. */
export const addressList = listParser('addresses, separated by commas', (value): string[] => {
  const entries = textsOf(value);
  // The constructor throws for an entry that is not valid.
  new AddressPolicy(entries);
  return entries;
});

/** Takes addresses and CIDR ranges separated by commas, or a list of such texts. */
export const proxyList = listParser('addresses and CIDR ranges, separated by commas', (value): string[] =>
  textsOf(value).map((entry) => {
    if (ipaddr.isValidCIDR(entry) && ipaddr.parseCIDR(entry)[1] === 0) {
      throw new Error(`${JSON.stringify(entry)} contains every address; list those of the proxies`);
    }
    if (isIP(entry) !== 0 || ipaddr.isValidCIDR(entry)) return entry;
    throw new Error(`${JSON.stringify(entry)} is neither an address nor a CIDR range`);
  }),
);

/** Takes origins separated by commas, a list of such texts, or `*`. */
export const originList = listParser('origins, separated by commas, or `*`', (value): string[] => {
  const origins = textsOf(value);
  if (origins.includes('*') && origins.length > 1) {
    throw new Error('must be "*" alone, which allows every origin, or origins without it');
  }
  for (const origin of origins) if (origin !== '*') checkOrigin(origin);
  return origins;
});

/** Browsers send an origin in exactly one spelling, and the service compares it letter by letter. */
function checkOrigin(text: string): void {
  // Applications such as those of Electron and Capacitor have schemes of their own.
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d+)?$/.test(text)) return;
  const url = /^https?:\/\/[^*]*$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === text) return;
  const meant = url === undefined ? '' : `; did you mean ${url.origin}?`;
  throw new Error(
    `${JSON.stringify(text)} is not an origin, which is a scheme, a host and perhaps a port${meant}`,
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textsOf(value: unknown): string[] {
  return listOf(value).map((entry) => {
    if (typeof entry !== 'string') throw new Error('must be texts');
    return entry.trim();
  });
}

/** The entries of one text that is separated by commas, or of a list of such texts. */
function listOf(value: unknown): unknown[] {
  return [value].flat().flatMap((list) => (typeof list === 'string' ? list.split(',') : [list]));
}
