import { sendTagged, type TaggedBody, tagged } from '../http/etag.js';
import { HTML_TYPE, JSON_TYPE } from '../http/send-json.js';
import { DOCS_POLICY, docsPage } from '../openapi/docs-page.js';
import { openApiDocument } from '../openapi/document.js';
import type { Resource } from './resource.js';

export const DOCUMENTS: Resource = {
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'OpenAPI 3.1', type: 'application/json' }],
    handler: ({ operations, limits }) => {
      let document: TaggedBody | undefined;
      const json = () => tagged(JSON.stringify(openApiDocument(operations, limits)), JSON_TYPE);
      return async (request, reply) => {
        reply.header('cache-control', 'no-cache');
        document ??= json();
        return sendTagged(request, reply, document);
      };
    },
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This document as a web page',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
    handler: ({ operations, limits }) => {
      let page: TaggedBody | undefined;
      const html = () => tagged(docsPage(openApiDocument(operations, limits)), HTML_TYPE);
      return async (request, reply) => {
        reply.header('cache-control', 'no-cache').header('content-security-policy', DOCS_POLICY);
        page ??= html();
        return sendTagged(request, reply, page);
      };
    },
  },
};
