import type { Operation } from './operation.js';

export const SERVICE_OPERATIONS = {
  livez: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Whether the process is alive',
    open: true,
    success: [{ status: 200, description: 'Alive', schema: 'Health' }],
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether models and databases are ready',
    open: true,
    success: [
      { status: 200, description: 'Ready', schema: 'Health' },
      { status: 503, description: 'Not ready, and why', schema: 'Health' },
    ],
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
    description:
      'A key that is limited to some databases gets only the metrics with a label `database`, for these. While the ' +
      'store cannot be reached, the metrics of the process are returned.',
    actions: ['databases.manage'],
    answersWithoutStore: true,
    success: [{ status: 200, description: 'Prometheus text', type: 'text/plain' }],
    errors: ['busy'],
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'OpenAPI 3.1', type: 'application/json' }],
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This document as a web page',
    open: true,
    tagged: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
  },
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
  },
} as const satisfies Record<string, Operation>;
