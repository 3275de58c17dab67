import type { FastifyRequest } from 'fastify';
import type { Action } from '../../schema/keys.js';
import { callerOf } from '../admission/access.js';
import { onClose } from '../http/on-close.js';
import { fetchFrom } from '../http/own-requests.js';
import { refuseForeignPages } from '../http/page-origin.js';
import { presentedKey } from '../keys/presented-key.js';
import type { Dependencies, Resource } from './resource.js';

export const MCP: Resource = {
  mcp: {
    method: 'POST',
    path: '/mcp',
    tag: 'Agents',
    summary: 'Speak the Model Context Protocol',
    description:
      'A server of MCP without sessions: each request stands for itself. A call of a tool makes requests of this API with the ' +
      'key of the request, which count as requests of their own. There are tools for the actions of the ' +
      'key; those that write, only if the setting `mcp_write` allows them.',
    body: 'McpMessage',
    success: [
      { status: 200, description: 'The response', type: 'application/json' },
      { status: 200, description: 'The response', type: 'text/event-stream' },
      { status: 202, description: 'The notification was accepted' },
      { status: 400, description: 'The message is not one of the protocol', type: 'application/json' },
      { status: 404, description: 'There is no such method', type: 'application/json' },
      {
        status: 406,
        description: 'The caller does not accept the types of responses',
        type: 'application/json',
      },
    ],
    errors: ['forbidden'],
    handler: (dependencies) => {
      // Loaded by the first request, because most services have none.
      let answer: ReturnType<typeof answerer> | undefined;
      const { mcp } = dependencies;
      return async (request, reply, { check }) => {
        refuseForeignPages(request, mcp.pages);
        check(request.body);
        const { id, method } = request.body as { id?: unknown; method?: unknown };
        if (method === 'subscriptions/listen') return reply.code(404).send(withoutSubscriptions(id));
        const stop = new AbortController();
        const forget = onClose(request, reply, () => stop.abort());
        answer ??= answerer(dependencies);
        const response = await (await answer)(request, stop.signal);
        // A response that is a stream of events ends with the event of the response.
        const body = Buffer.from(await response.arrayBuffer());
        forget();
        const type = response.headers.get('content-type');
        if (type !== null) reply.header('content-type', type);
        return reply.code(response.status).send(body);
      };
    },
  },
};

/** The answer to a request for changes of the tools: they never change, so a stream of changes would be open for nothing. */
function withoutSubscriptions(id: unknown): object {
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

/** A code of JSON-RPC. */
const METHOD_NOT_FOUND = -32601;

/** Returns a function that answers a request as a server of MCP for its caller. */
async function answerer({ mcp: { inject, allowsWrites } }: Dependencies) {
  const { createMcpHandler, makeServer, remoteTarget } = await import('../../mcp/index.js');
  return (request: FastifyRequest, signal: AbortSignal): Promise<Response> => {
    const caller = callerOf(request);
    // The tools are a client of this service, so that a key can do with them what it can do without them.
    const target = remoteTarget({
      url: 'http://localhost',
      key: presentedKey(request.raw) as string,
      retries: 0,
      fetch: fetchFrom(inject, request),
    });
    const may = (action: Action) =>
      caller.actions.has(action) && (allowsWrites || action !== 'records.write');
    const { fetch } = createMcpHandler(() => makeServer({ open: async () => target, may }));
    const headers = Object.entries(request.headers).filter(([name]) => PASSED_ON.test(name));
    const web = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: headers as [string, string][],
      signal,
    });
    return fetch(web, { parsedBody: request.body });
  };
}

/** The headers that the protocol defines. The key is not one of them. */
const PASSED_ON = /^(accept|content-type|mcp-.*)$/;
