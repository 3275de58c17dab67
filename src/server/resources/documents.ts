import { sendTagged, type TaggedBody, tagged } from '../http/etag.js';
import { HTML_TYPE, JSON_TYPE } from '../http/send-json.js';
import { DOCS_POLICY, docsPage } from '../openapi/docs-page.js';
import { openApiDocument } from '../openapi/document.js';
import type { Handler, Resource } from './resource.js';

/** Returns a handler that sends a document, which is made for the first request. */
function documentHandler(make: () => TaggedBody, headers: Record<string, string>): Handler {
  let document: TaggedBody | undefined;
  return async (request, reply) => {
    document ??= make();
    return sendTagged(request, reply.headers({ 'cache-control': 'no-cache', ...headers }), document);
  };
}

export const DOCUMENTS: Resource = {
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'OpenAPI 3.1', type: 'application/json' }],
    handler: ({ api, limits }) =>
      documentHandler(() => tagged(JSON.stringify(openApiDocument(api, limits)), JSON_TYPE), {}),
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This document as a web page',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
    handler: ({ api, limits }) =>
      documentHandler(() => tagged(docsPage(openApiDocument(api, limits)), HTML_TYPE), {
        'content-security-policy': DOCS_POLICY,
      }),
  },
};
