import { callerOf } from '../admission/access.js';
import type { Resource } from './resource.js';

export const METRICS: Resource = {
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
    handler:
      ({ metrics }) =>
      async (request, reply) => {
        const { path, databases } = callerOf(request);
        const text = await metrics.text(path, databases);
        return reply.header('content-type', metrics.contentType).send(text);
      },
  },
};
