import { docsPage } from '../openapi/docs-page.js';
import { openApiDocument } from '../openapi/document.js';
import type { Handlers, Services } from '../services.js';

/** Health, metrics and the description of the interface. */
export function serviceHandlers({ backend, limits, metrics, inFlight }: Services): Handlers {
  let document: { json: string; page: string } | undefined;
  const described = () => {
    if (document === undefined) {
      const openApi = openApiDocument(limits);
      document = { json: JSON.stringify(openApi), page: docsPage(openApi) };
    }
    return document;
  };

  return {
    async livez() {
      return { status: 'ok' };
    },

    async readyz(_request, reply) {
      const { ready, reasons, progress } = backend.readiness();
      if (inFlight.closing.aborted) return reply.code(503).send(notReady(['the server is stopping']));
      if (ready) return { status: 'ok' };
      return reply.code(503).send({ ...notReady(reasons), ...(progress !== undefined && { progress }) });
    },

    async metrics(_request, reply) {
      return reply.header('content-type', metrics.contentType).send(await metrics.text());
    },

    async openapi(_request, reply) {
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(described().json);
    },

    async docs(_request, reply) {
      return reply
        .header('content-type', 'text/html; charset=utf-8')
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        )
        .send(described().page);
    },
  };
}

function notReady(reasons: readonly string[]) {
  return { status: 'not_ready', reasons };
}
