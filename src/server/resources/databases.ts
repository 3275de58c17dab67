import { setImmediate } from 'node:timers/promises';
import { FairLimiter } from '../../async/fair-limiter.js';
import { checkDatabaseSettings } from '../../schema/index.js';
import { callerOf, databaseOf, refuseFiltered, sees } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import { sendWithTag } from '../http/etag.js';
import { JSON_TYPE } from '../http/send-json.js';
import { MODEL_ERRORS, WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

export const DATABASES: Resource = {
  createDatabase: {
    method: 'PUT',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Create a database',
    actions: ['databases.manage'],
    body: 'DatabaseSettings',
    bodyOptional: true,
    success: [
      { status: 201, description: 'Created', schema: 'DatabaseDescription' },
      {
        status: 200,
        description: 'The database exists already with these settings',
        schema: 'DatabaseDescription',
      },
    ],
    errors: ['database_exists', 'invalid_dimensions', ...MODEL_ERRORS, ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        const settings = checkDatabaseSettings(request.body === undefined ? {} : request.body);
        const id = databaseOf(request);
        const { created, database } = await withTimeout(request, timeouts.writeMs, () =>
          databases.catalog.create(id, settings),
        );
        return reply.code(created ? 201 : 200).send(database);
      },
  },
  listDatabases: {
    method: 'GET',
    path: '/v1/databases',
    tag: 'Databases',
    summary: 'List the databases that the key may see',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The databases', schema: 'DatabaseList' }],
    kind: 'reads',
    handler: ({ databases, timeouts }) => {
      const writing = new FairLimiter({ total: 1, perCaller: 1 });
      /** Many databases take milliseconds to write: other requests run in between. */
      const write = (caller: string, value: unknown) =>
        writing.run(caller, async () => {
          await setImmediate();
          return JSON.stringify(value);
        });
      return async (request, reply) => {
        refuseFiltered(request, 'describe databases');
        const caller = callerOf(request);
        const list = async () => {
          const all = await databases.catalog.list({ caller: caller.path });
          return await write(caller.path, { databases: all.filter(({ id }) => sees(caller, id)) });
        };
        const json = await withTimeout(request, timeouts.responseMs, list);
        return reply.header('content-type', JSON_TYPE).send(json);
      };
    },
  },
  describeDatabase: {
    method: 'GET',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Describe a database',
    actions: ['databases.manage', 'records.read'],
    tagged: true,
    success: [{ status: 200, description: 'The database', schema: 'DatabaseDescription' }],
    kind: 'reads',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        refuseFiltered(request, 'describe databases');
        const id = databaseOf(request);
        const { path: caller } = callerOf(request);
        const describe = () => databases.catalog.describeJson(id, { caller });
        const json = await withTimeout(request, timeouts.responseMs, describe);
        reply.header('cache-control', 'private, no-cache');
        return sendWithTag(request, reply, json, JSON_TYPE);
      },
  },
  dropDatabase: {
    method: 'DELETE',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Drop a database and its records',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The database is dropped' }],
    errors: WRITE_ERRORS,
    kind: 'writes',
    handler:
      ({ databases, timeouts, webhooks }) =>
      async (request, reply) => {
        const id = databaseOf(request);
        await withTimeout(request, timeouts.writeMs, async () => {
          await databases.catalog.drop(id);
          await webhooks.deleteOf(id);
        });
        return reply.code(204).send();
      },
  },
};
