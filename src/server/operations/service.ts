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
    summary: 'Whether model and data are ready',
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
    description: 'A key of some databases gets only the metrics of each of these.',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'Prometheus text', type: 'text/plain' }],
    errors: ['busy'],
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    open: true,
    success: [{ status: 200, description: 'OpenAPI 3.1', type: 'application/json' }],
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This document, readable',
    open: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
  },
} as const satisfies Record<string, Operation>;
