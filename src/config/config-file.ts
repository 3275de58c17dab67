import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError, refuseUnknown } from './config-error.js';
import { isObject } from './parsers.js';
import { SETTINGS } from './settings.js';

const DEFAULT_FILE = 'cosift.json';
/** The member with the sources that databases are kept in step with. It is no setting: its members are not known here. */
export const SYNC = 'sync';
/** A file of settings is far smaller. A device may have no end. */
const MAX_BYTES = 1 << 20;

export interface ConfigFile {
  path: string;
  /** By setting name. Members of the object `limits` have names such as `limits.filter_rules`. */
  values: Map<string, unknown>;
}

/**
 * Reads `file`; without `file`, reads `cosift.json` in the working directory if it exists.
 *
 * @throws {ConfigError} when the file cannot be read, is not one JSON object, or has an unknown or repeated member.
 */
export function readConfigFile(file: string | undefined): ConfigFile {
  const path = file ?? DEFAULT_FILE;
  const values = new Map<string, unknown>();
  let json: string;
  try {
    json = readText(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (file === undefined && code === 'ENOENT') return { path, values };
    throw new ConfigError(`cannot read the config file: ${message}`);
  }
  let members: unknown;
  try {
    members = JSON.parse(json);
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message}`);
  }
  if (!isObject(members)) throw new ConfigError(`${path}: must hold one object`);
  const repeated = repeatedMember(json);
  if (repeated !== undefined) throw new ConfigError(`${path}: ${repeated} is given twice`);
  for (const [name, value] of Object.entries(members)) {
    if (name === 'limits' && isObject(value)) {
      for (const [limit, max] of Object.entries(value)) values.set(`limits.${limit}`, max);
    } else {
      values.set(name, value);
    }
  }
  const known = [...SETTINGS.map(({ name }) => name), SYNC];
  refuseUnknown([...values.keys()], known, `${path}: setting`);
  return { path, values };
}

/** The text of a file, which may also be a pipe. */
function readText(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** A string, or a character that opens, closes or divides objects and arrays. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The path of a member that an object has twice, such as `limits.filter_rules`; undefined if there is none. `json` must be
 * valid JSON. `JSON.parse` keeps the last of equal members without a word.
 */
function repeatedMember(json: string): string | undefined {
  /** The open objects and arrays; the names of an array are never filled. */
  const open: { names: Set<string>; last: string }[] = [];
  let text = '';
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push({ names: new Set(), last: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) text = token;
    const innermost = open.at(-1);
    if (token !== ':' || innermost === undefined) continue;
    innermost.last = JSON.parse(text) as string;
    if (innermost.names.has(innermost.last)) return open.map(({ last }) => last).join('.');
    innermost.names.add(innermost.last);
  }
  return undefined;
}
