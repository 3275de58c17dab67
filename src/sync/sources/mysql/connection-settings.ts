import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'mysql2';
import { CosiftError } from '../../../errors.js';

/** What `--ssl-mode` of the programs of MySQL means to the driver. */
const SSL: Readonly<Record<string, ConnectionOptions['ssl']>> = {
  DISABLED: undefined,
  REQUIRED: { rejectUnauthorized: false },
  VERIFY_CA: { rejectUnauthorized: true },
  VERIFY_IDENTITY: { rejectUnauthorized: true, verifyIdentity: true },
};

/**
 * The settings of a connection that the URL of a source has. No error shows a part of the URL.
 *
 * @throws {CosiftError} `source_failed`
 */
export function connectionSettings(url: string): ConnectionOptions & { database: string } {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const decoded = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      throw unusable(
        'a % of the user, the password or the database begins no percent-encoding: write it as %25',
      );
    }
  };
  if (parsed === null || parsed.hostname === '') throw unusable('it is not mysql://USER@HOST/DATABASE');
  const database = decoded(parsed.pathname.slice(1));
  if (database === '') throw unusable('it names no database: mysql://USER@HOST/DATABASE');
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: parsed.port === '' ? 3306 : Number(parsed.port),
    user: decoded(parsed.username),
    password: decoded(parsed.password),
    database,
    ...sslOf(parsed.searchParams),
  };
}

function sslOf(parameters: URLSearchParams): Pick<ConnectionOptions, 'ssl'> {
  const { 'ssl-mode': mode, 'ssl-ca': file, ...others } = Object.fromEntries(parameters);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unusable(`its parameters may be ssl-mode and ssl-ca, not ${unknown}`);
  const name = mode?.toUpperCase() ?? (file === undefined ? 'DISABLED' : 'VERIFY_CA');
  if (!Object.hasOwn(SSL, name)) throw unusable(`ssl-mode must be one of ${Object.keys(SSL).join(', ')}`);
  const ssl = SSL[name];
  if (ssl === undefined) return {};
  return { ssl: { ...(ssl as object), ...(file !== undefined && { ca: authority(file) }) } };
}

function authority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(`ssl-ca: ${(error as Error).message}`);
  }
}

function unusable(reason: string): CosiftError {
  return new CosiftError('source_failed', `the URL of the source cannot be used: ${reason}`);
}
