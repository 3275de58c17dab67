import { checkReembeddingRequest } from '../../schema/index.js';
import { databaseOf, refuseFiltered } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import { WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

export const REEMBEDDING: Resource = {
  startReembedding: {
    method: 'POST',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'Embed the records with another model',
    description:
      'This runs in the background. Searches continue with the old vectors, and writes continue. When every record has ' +
      'its new vector, the database switches to the new model. The same request resumes a re-embedding that failed.',
    actions: ['databases.manage'],
    body: 'ReembeddingRequest',
    success: [{ status: 202, description: 'The state of the re-embedding', schema: 'Reembedding' }],
    errors: ['reembedding_running', 'not_installed', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        const { model } = checkReembeddingRequest(request.body);
        const id = databaseOf(request);
        const started = await withTimeout(request, timeouts.writeMs, () =>
          databases.reembeddings.start(id, model),
        );
        return reply.code(202).send(started);
      },
  },
  readReembedding: {
    method: 'GET',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'Read the state of a re-embedding',
    description: 'The state can be read while the re-embedding runs, and afterwards until the service stops.',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The state of the re-embedding', schema: 'Reembedding' }],
    errors: ['reembedding_not_found'],
    kind: 'reads',
    handler:
      ({ databases }) =>
      async (request) => {
        refuseFiltered(request, 'describe databases');
        return databases.reembeddings.find(databaseOf(request));
      },
  },
  cancelReembedding: {
    method: 'DELETE',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'Cancel a re-embedding',
    description: 'The database keeps its model and its vectors.',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The re-embedding is cancelled' }],
    errors: ['reembedding_not_found', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        const id = databaseOf(request);
        await withTimeout(request, timeouts.writeMs, () => databases.reembeddings.cancel(id));
        return reply.code(204).send();
      },
  },
};
