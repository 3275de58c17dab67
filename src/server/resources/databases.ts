import { overTurns } from '../../async/turns.js';
import type { DatabaseService } from '../../databases/index.js';
import { isCode } from '../../errors.js';
import { checkDatabaseChanges, checkDatabaseSettings } from '../../schema/index.js';
import { callerOf, databaseOf, refuseFiltered, sees } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import { sendWithTag } from '../http/etag.js';
import { JSON_TYPE, sendJson } from '../http/send-json.js';
import type { Caller } from '../keys/caller.js';
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
    createsDatabase: true,
    success: [
      { status: 201, description: 'Created', schema: 'DatabaseDescription' },
      {
        status: 200,
        description: 'The database exists already with these settings',
        schema: 'DatabaseDescription',
      },
    ],
    errors: ['database_exists', 'alias_conflict', 'invalid_dimensions', ...MODEL_ERRORS, ...WRITE_ERRORS],
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
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        refuseFiltered(request, 'describe databases');
        const list = () => listOf(databases, callerOf(request), AbortSignal.timeout(timeouts.responseMs));
        return sendJson(reply, await withTimeout(request, timeouts.responseMs, list));
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
  changeDatabase: {
    method: 'PATCH',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Change settings of a database',
    description:
      '`embed` and `model` change in the background: a re-embedding gives every record its new vector, and then the ' +
      'database switches to all of them at once. The description has its state in `reembedding`.',
    actions: ['databases.manage'],
    body: 'DatabaseChanges',
    mergePatch: true,
    success: [{ status: 200, description: 'The database with the changes', schema: 'DatabaseDescription' }],
    errors: ['reembedding_running', 'not_installed', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        const changes = checkDatabaseChanges(request.body);
        const id = databaseOf(request);
        const changed = await withTimeout(request, timeouts.writeMs, () =>
          databases.catalog.configure(id, changes),
        );
        return reply.send(changed);
      },
  },
  dropDatabase: {
    method: 'DELETE',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Drop a database and its records',
    description: 'A database that an alias names is not dropped.',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The database is dropped' }],
    errors: ['alias_conflict', ...WRITE_ERRORS],
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

/**
 * Returns the JSON of a `DatabaseList` of the databases that are loaded and that the caller sees. It is put together from the
 * JSON of each, because to parse many descriptions takes long.
 */
async function listOf(
  { catalog, monitor }: DatabaseService,
  caller: Caller,
  signal: AbortSignal,
): Promise<Buffer> {
  const descriptions: Uint8Array[] = [];
  for (const { id, loaded } of await monitor.states(signal)) {
    if (!loaded || !sees(caller, id)) continue;
    signal.throwIfAborted();
    try {
      descriptions.push(await catalog.describeJson(id, { caller: caller.path }));
    } catch (error) {
      // A database may be dropped meanwhile.
      if (!isCode(error, 'database_not_found')) throw error;
    }
  }
  const parts = descriptions.flatMap((json, at) => (at === 0 ? [json] : [COMMA, json]));
  return concatenated([Buffer.from('{"databases":['), ...parts, Buffer.from(']}')]);
}

/** Concatenates `parts`. More than {@link COPIED_BYTES} are copied in slices: one of all lists in a turn of the event loop. */
async function concatenated(parts: readonly Uint8Array[]): Promise<Buffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length <= COPIED_BYTES) return Buffer.concat(parts, length);
  const all = Buffer.allocUnsafeSlow(length);
  let end = 0;
  let left = 0;
  for (const part of parts) {
    for (let start = 0; start < part.length; ) {
      if (left === 0) {
        await new Promise<void>(copyOverTurns);
        left = COPIED_BYTES;
      }
      const slice = part.subarray(start, start + left);
      all.set(slice, end);
      end += slice.length;
      start += slice.length;
      left -= slice.length;
    }
  }
  return all;
}

/** To copy them takes some tenths of a millisecond. */
const COPIED_BYTES = 1 << 18;

const copyOverTurns = overTurns(1);

const COMMA = Buffer.from(',');
