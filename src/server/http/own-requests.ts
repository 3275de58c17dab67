import type { FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify';

/** Runs a request of the service itself, without a connection. */
export type Inject = (request: InjectOptions) => Promise<LightMyRequestResponse>;

/** Returns a `fetch` whose requests the service itself answers, in the name of the caller of `request`. */
export function fetchFrom(inject: Inject, { id, ip }: FastifyRequest): typeof fetch {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const { pathname, search } = new URL(String(input));
    const response = await inject({
      method: method as 'GET',
      url: pathname + search,
      headers: { ...(headers as Record<string, string>), 'x-request-id': id },
      remoteAddress: ip,
      ...(body != null && { payload: body as string }),
      ...(signal && { signal }),
    });
    const { statusCode: status, rawPayload } = response;
    const shown = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    // A response with status 204 must not have a body, not even an empty one.
    return new Response(rawPayload.length === 0 ? null : rawPayload, {
      status,
      headers: shown as [string, string][],
    });
  };
}
