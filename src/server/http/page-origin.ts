import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../config/address-policy.js';
import { CosiftError } from '../../errors.js';

/** How web pages may reach the service. */
export interface PageAccess {
  /** The origins whose pages may call the service, or `*`. */
  corsOrigins: readonly string[];
  /** Whether proxies pass on requests for other hosts. */
  hasProxies: boolean;
}

/**
 * Refuses requests that a web page of another origin may have made. A page can let its own name point to this machine (DNS
 * rebinding), and is of the same origin for the browser then. So a name counts only if it is listed, and names of this
 * machine and addresses, which no page can redirect.
 *
 * @throws {CosiftError} `forbidden`
 */
export function refuseForeignPages({ headers, socket }: FastifyRequest, access: PageAccess): void {
  const { corsOrigins, hasProxies } = access;
  const { host = '', origin } = headers;
  if (origin !== undefined && !corsOrigins.some((allowed) => allowed === '*' || allowed === origin)) {
    const page = URL.canParse(origin) ? new URL(origin) : undefined;
    const isOwn =
      page !== undefined && (isLoopback(page.hostname) || (page.host === host && isAddress(page.hostname)));
    if (!isOwn) throw refused(`pages of ${JSON.stringify(origin)} may not call this path`, '--cors-origins');
  }
  if (hasProxies || corsOrigins.length > 0 || !isLoopback(socket.localAddress ?? '')) return;
  const [, name = ''] = HOST.exec(host) ?? [];
  if (isLoopback(name) || isAddress(name)) return;
  throw refused(`the host ${JSON.stringify(host)} is not this machine`, '--trusted-proxies');
}

/** A name or an address, and perhaps a port. */
const HOST = /^(\[[^\]]*\]|[^:@/]*)(?::\d+)?$/;

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

function refused(reason: string, setting: string): CosiftError {
  return new CosiftError('forbidden', `${reason}, unless ${setting} allows it`);
}
