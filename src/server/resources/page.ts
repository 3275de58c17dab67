import { CosiftError } from '../../errors.js';
import { sendTagged } from '../http/etag.js';
import { type PageFiles, readPageFiles } from '../page/page-files.js';
import type { Resource, Served } from './resource.js';

/** The page loads nothing from elsewhere, and runs no script that is not a file of its own. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** A path with a version names the same bytes forever. */
const FOREVER = 'public, max-age=31536000, immutable';

let read: PageFiles | undefined;

function pageFiles(isServed: boolean): PageFiles {
  if (!isServed) throw nothingHere();
  read ??= readPageFiles();
  return read;
}

export const PAGE: Resource = {
  page: {
    method: 'GET',
    path: '/',
    tag: 'Service',
    summary: 'The page: search, filter and import in a browser',
    description: 'With the setting `page` off, there is no page: 404.',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
    errors: ['not_found'],
    handler:
      ({ page }) =>
      async (request, reply) => {
        const { index } = pageFiles(page);
        reply
          .header('cache-control', 'no-cache')
          .header('content-security-policy', POLICY)
          .header('cross-origin-opener-policy', 'same-origin')
          .header('referrer-policy', 'no-referrer')
          .header('x-content-type-options', 'nosniff');
        return sendTagged(request, reply, index);
      },
  },
};

/** The files that the page loads. They are no part of the API, so its table of operations lacks them. */
export const PAGE_FILE: Served = {
  method: 'GET',
  path: '/page/{version}/*',
  tag: 'Service',
  summary: 'A file of the page',
  open: true,
  success: [],
  handler:
    ({ page }) =>
    async (request, reply) => {
      const { version, files } = pageFiles(page);
      const given = request.params as { version: string; '*': string };
      const file = given.version === version ? files.get(given['*']) : undefined;
      if (file === undefined) throw nothingHere();
      reply.header('cache-control', FOREVER).header('x-content-type-options', 'nosniff');
      return sendTagged(request, reply, file);
    },
};

function nothingHere(): CosiftError {
  return new CosiftError('not_found', 'there is nothing at this path');
}
