import { readFileSync } from 'node:fs';
import { ConfigError } from './config.js';
import { isObject } from './parsers.js';
import { refuseUnknown } from './refuse-unknown.js';
import { SETTINGS } from './settings.js';

const DEFAULT_FILE = 'cosift.json';

/** A config file as it was read. */
export interface ConfigFile {
  path: string;
  /** By setting name. Members of the object `limits` have names such as `limits.filter_rules`. */
  values: Map<string, unknown>;
}

/**
 * Reads `file`; without `file`, reads `cosift.json` in the working directory if it exists.
 *
 * @throws {ConfigError} when the file cannot be read, is not one JSON object, or has an unknown member.
 */
export function readConfigFile(file: string | undefined): ConfigFile {
  const path = file ?? DEFAULT_FILE;
  const values = new Map<string, unknown>();
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
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
  for (const [name, value] of Object.entries(members)) {
    if (name === 'limits' && isObject(value)) {
      for (const [limit, max] of Object.entries(value)) values.set(`limits.${limit}`, max);
    } else {
      values.set(name, value);
    }
  }
  const known = SETTINGS.map(({ name }) => name);
  refuseUnknown([...values.keys()], known, `${path}: setting`);
  return { path, values };
}
