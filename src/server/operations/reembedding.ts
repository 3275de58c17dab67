import { type Operation, WRITE_ERRORS } from './operation.js';

export const REEMBEDDING_OPERATIONS = {
  startReembedding: {
    method: 'POST',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'Embed the records with another model',
    description:
      'In the background: searches go on with the vectors there are, writes go on, and once every record has its ' +
      'new vector the database changes over at once. The same request goes on with one that failed.',
    actions: ['databases.manage'],
    body: 'ReembeddingRequest',
    success: [{ status: 202, description: 'How it stands', schema: 'Reembedding' }],
    errors: ['reembedding_running', ...WRITE_ERRORS],
    kind: 'writes',
  },
  readReembedding: {
    method: 'GET',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'How the embedding with another model stands',
    description: 'It can be read for as long as it lasts, and after it until the service ends.',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'How it stands', schema: 'Reembedding' }],
    errors: ['reembedding_not_found'],
    kind: 'reads',
  },
  cancelReembedding: {
    method: 'DELETE',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'End the embedding with another model',
    description: 'The database stays as it was.',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'It has ended' }],
    errors: ['reembedding_not_found', ...WRITE_ERRORS],
    kind: 'writes',
  },
} as const satisfies Record<string, Operation>;
