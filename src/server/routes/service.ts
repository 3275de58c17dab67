import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { FairLimiter } from '../../async/fair-limiter.js';
import { isCode } from '../../errors.js';
import { callerOf, findCaller, sees } from '../admission/access.js';
import { sendTagged, type TaggedBody, tagged } from '../http/etag.js';
import { JSON_TYPE } from '../http/send-json.js';
import { DOCS_POLICY, docsPage } from '../openapi/docs-page.js';
import { openApiDocument } from '../openapi/document.js';
import type { Dependencies, Handlers } from './dependencies.js';

/** Maximum number of scrapes of one key that may wait. */
const MAX_WAITING = 64;

/** Handlers of health, metrics and the OpenAPI document. */
export function serviceHandlers({
  backend,
  readiness,
  keys,
  limits,
  metrics,
  inFlight,
}: Dependencies): Handlers {
  let document: { json: TaggedBody; page: TaggedBody } | undefined;
  // One at a time, because a scrape blocks the event loop for milliseconds.
  const scrapes = new FairLimiter({ total: 1, perCaller: 1, waitingPerCaller: MAX_WAITING });
  const described = () => {
    if (document === undefined) {
      const openApi = openApiDocument(limits);
      document = {
        json: tagged(JSON.stringify(openApi), JSON_TYPE),
        page: tagged(docsPage(openApi), 'text/html; charset=utf-8'),
      };
    }
    return document;
  };

  /** The caller if its key is valid. Unreadable keys give undefined, because they must not make the service unready. */
  const knownCaller = async (request: FastifyRequest) => {
    try {
      return await findCaller(request, keys);
    } catch {
      return undefined;
    }
  };

  return {
    async livez() {
      return { status: 'ok' };
    },

    async readyz(request, reply) {
      if (inFlight.closing.aborted) {
        return reply.code(503).send({ status: 'not_ready', reasons: ['the server is stopping'] });
      }
      const { ready, reasons } = await readiness();
      const databases = await backend.databases().catch((error) => {
        if (isCode(error, 'store_failed')) return undefined;
        throw error;
      });
      if (databases === undefined) {
        reply.header('retry-after', '1');
        return reply.code(503).send({ status: 'not_ready', reasons: ['the store cannot be reached'] });
      }
      // This operation needs no key, so only callers that may see a database get its name.
      const caller = await knownCaller(request);
      const problems = databases.flatMap(({ id, loaded, writable, problem }) => {
        const name = caller !== undefined && sees(caller, id) ? `database "${id}"` : 'a database';
        if (problem?.code === 'drop_failed') return [`${name} could not be dropped: drop it again`];
        if (problem !== undefined) return [`${name} could not be opened (${problem.code})`];
        return loaded && !writable ? [`${name} refuses writes until the next start`] : [];
      });
      if ((await keys.failure()) !== undefined)
        problems.push('the keys cannot be read: only the admin key is valid');
      if (ready) return { status: 'ok', ...(problems.length > 0 && { reasons: problems }) };
      const progress = {
        databases: databases.length,
        loaded: databases.filter(({ loaded }) => loaded).length,
        records: databases.reduce((sum, { records }) => sum + records, 0),
      };
      reply.header('retry-after', '1');
      return reply.code(503).send({ status: 'not_ready', reasons: [...reasons, ...problems], progress });
    },

    async metrics(request, reply) {
      const { keyId, databases } = callerOf(request);
      const text = await scrapes.run(keyId, async () => {
        await setImmediate();
        return metrics.text(databases);
      });
      return reply.header('content-type', metrics.contentType).send(text);
    },

    async openapi(request, reply) {
      reply.header('cache-control', 'no-cache');
      return sendTagged(request, reply, described().json);
    },

    async docs(request, reply) {
      reply.header('cache-control', 'no-cache').header('content-security-policy', DOCS_POLICY);
      return sendTagged(request, reply, described().page);
    },
  };
}
