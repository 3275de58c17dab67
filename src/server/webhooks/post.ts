import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from '../../config/index.js';
import type { DeliveryFailure } from '../../schema/index.js';

/** Why a delivery failed. */
export interface Fault {
  /** For whoever reads the webhook: the same for every cause but an answer, so that it tells nothing of the network. */
  kind: DeliveryFailure;
  /** For the log. */
  detail: string;
}

/**
 * Posts `body` to `url`; resolves with the fault, undefined when the receiver accepted it with a 2xx response.
 *
 * Every address is checked as the connection to it is made, so a name that resolves to another address later gains
 * nothing. Redirects are not followed: their target would be an address that nobody checked.
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  const target = new URL(url);
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (policy.refusesHost(host)) return refused(host);
  try {
    const status = await send(target, headers, body, checkedLookup(policy), signal);
    if (status >= 200 && status < 300) return undefined;
    return { kind: 'rejected', detail: `status ${status}` };
  } catch (error) {
    return {
      kind: 'unreachable',
      detail: error instanceof Error ? error.message || String(error) : String(error),
    };
  }
}

function refused(host: string): Fault {
  return { kind: 'unreachable', detail: refusal(host) };
}

function refusal(host: string): string {
  return `webhooks may not reach an address of ${host}; the setting webhook_allow allows it`;
}

/** Resolves with the status of the response; its body is not read. */
function send(
  url: URL,
  headers: Record<string, string>,
  body: string,
  checked: LookupFunction,
  signal: AbortSignal,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // A connection of its own: one that is kept open could be to an address that is no longer allowed.
    const options = { method: 'POST', headers, lookup: checked, signal, agent: false };
    request(url, options, (response: IncomingMessage) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    })
      .on('error', reject)
      // A response that switches protocols closes the connection without an error.
      .on('close', () => reject(new Error('the connection was closed before the response')))
      .end(body);
  });
}

/** Looks up the addresses of a name and passes on those that the policy allows. */
function checkedLookup(policy: AddressPolicy): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => policy.allows(host, address));
      const [first] = allowed;
      if (first === undefined) return callback(new Error(refusal(host)), '', 0);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}
