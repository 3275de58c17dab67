import { rationed } from '../../async/rationed.js';
import { within } from '../../async/sleep.js';
import { isCode } from '../../errors.js';
import { callerOf, findCaller, sees } from '../admission/access.js';
import { sendTagged, type TaggedBody, tagged } from '../http/etag.js';
import { JSON_TYPE } from '../http/send-json.js';
import { DOCS_POLICY, docsPage } from '../openapi/docs-page.js';
import { openApiDocument } from '../openapi/document.js';
import type { Dependencies, Handlers } from './dependencies.js';

/** Milliseconds that readiness waits for the store and the keys. A probe waits for seconds only. */
const READY_MS = 2_000;

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

  /** The databases, or why the store cannot tell; and whether the keys can be read in time. Any client may ask for this. */
  const readState = rationed(async () => {
    const late = AbortSignal.timeout(READY_MS);
    const [databases, isReadable = false] = await Promise.all([
      backend.databases(late).catch((error) => {
        if (isCode(error, 'store_failed')) return 'the store cannot be reached';
        if (late.aborted || isCode(error, 'timed_out')) return 'the store does not answer';
        throw error;
      }),
      within(
        READY_MS,
        keys.failure().then((failure) => failure === undefined),
      ),
    ]);
    return { databases, isReadable };
  });

  return {
    async livez() {
      return { status: 'ok' };
    },

    async readyz(request, reply) {
      const isStopping = () => inFlight.closing.aborted;
      const state = isStopping()
        ? undefined
        : await Promise.all([
            readState(),
            // Unreadable keys give no caller, because they must not make the service unready.
            within(READY_MS, findCaller(request, keys)).catch(() => undefined),
          ]);
      // The server may have begun to stop, or become ready, while the store was asked.
      if (state === undefined || isStopping()) {
        return reply.code(503).send({ status: 'not_ready', reasons: ['the server is stopping'] });
      }
      const [{ databases, isReadable }, caller] = state;
      const { ready, reasons } = readiness();
      if (typeof databases === 'string') {
        reply.header('retry-after', '1');
        return reply.code(503).send({ status: 'not_ready', reasons: [databases] });
      }
      // This operation needs no key, so only callers that may see a database get its name.
      const problems = databases.flatMap(({ id, loaded, writable, problem }) => {
        const name = caller !== undefined && sees(caller, id) ? `database "${id}"` : 'a database';
        if (problem?.code === 'drop_failed') return [`${name} could not be dropped: drop it again`];
        if (problem?.code === 'no_answer') return [`${name} does not answer`];
        if (problem !== undefined) return [`${name} could not be opened (${problem.code})`];
        return loaded && !writable ? [`${name} refuses writes until the next start`] : [];
      });
      if (!isReadable) problems.push('the keys cannot be read: only the admin key is valid');
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
      const { path, databases } = callerOf(request);
      const text = await metrics.text(path, databases);
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
