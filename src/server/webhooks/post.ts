import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type AddressPolicy, hostOf } from '../../config/index.js';
import type { DeliveryFailure } from '../../schema/index.js';

/** Why a delivery failed. */
export interface PostFailure {
  /**
   * For callers who list webhooks: `unreachable` for every cause but a response, so that it tells nothing about the
   * network.
   */
  kind: DeliveryFailure;
  /** For the log. */
  detail: string;
}

/**
 * Posts `body` to `url`. Returns why the delivery failed; undefined when the receiver accepted it with a 2xx response.
 *
 * Every address is checked when the connection to it is made, so a name may resolve to another address later without
 * harm. Redirects are not followed, because their target would not be checked.
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<PostFailure | undefined> {
  const target = new URL(url);
  const host = hostOf(target);
  if (policy.refusesHost(host)) return { kind: 'unreachable', detail: refusal(host) };
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

function refusal(host: string): string {
  return `webhooks may not reach an address of ${host}; the setting webhook_allow allows it`;
}

/** Sends the request and returns the status of the response. The body of the response is not read. */
function send(
  url: URL,
  headers: Record<string, string>,
  body: string,
  checked: LookupFunction,
  signal: AbortSignal,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // Each post has its own connection: a connection that is kept open could lead to an address that is not allowed now.
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

/** Returns a DNS lookup that returns only the addresses that the policy allows. */
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
