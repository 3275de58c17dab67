import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { CosiftError } from '../../errors.js';

/** The modes of TLS that the client takes for `verify-full`, with a warning. */
const VERIFIED = ['prefer', 'require', 'verify-ca'];
const SSL_MODES = ['disable', ...VERIFIED, 'verify-full', 'no-verify'];

/**
 * The settings of a connection that the URL of a store has. Files of certificates are read here and not by each
 * connection, because a file that is missing later must not end the process.
 *
 * @throws {CosiftError} `store_failed`
 */
export function connectionSettings(url: string): pg.ClientConfig {
  try {
    return parseIntoClientConfig(checkMode(url));
  } catch (cause) {
    const { message } = cause as Error;
    throw new CosiftError('store_failed', 'the URL of the store cannot be used', {
      fields: { text: message },
      cause: new CosiftError('store_failed', message, { cause }),
    });
  }
}

function checkMode(url: string): string {
  const target = new URL(url);
  const mode = target.searchParams.get('sslmode');
  if (mode === null || target.searchParams.get('uselibpqcompat') === 'true') return url;
  if (!SSL_MODES.includes(mode)) throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  if (!VERIFIED.includes(mode)) return url;
  target.searchParams.set('sslmode', 'verify-full');
  return target.href;
}
