import type { FastifyRequest } from 'fastify';
import { aliasNotFound } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { checkAliasRequest, DATABASE_ID } from '../../schema/index.js';
import { callerOf, refuseFiltered, sees } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import { WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

export const ALIASES: Resource = {
  setAlias: {
    method: 'PUT',
    path: '/v1/aliases/{name}',
    tag: 'Databases',
    summary: 'Let an alias name a database',
    description:
      'Requests to the alias go to the database from then on; those in progress end where they began. The key must not be ' +
      'limited to databases.',
    actions: ['databases.manage'],
    body: 'AliasRequest',
    success: [
      { status: 201, description: 'The alias is new', schema: 'Alias' },
      { status: 200, description: 'The alias existed', schema: 'Alias' },
    ],
    errors: ['alias_conflict', 'database_not_found', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        refuseLimited(request);
        const { database } = checkAliasRequest(request.body);
        const alias = { name: nameOf(request), database };
        const { created } = await withTimeout(request, timeouts.writeMs, () => databases.aliases.set(alias));
        return reply.code(created ? 201 : 200).send(alias);
      },
  },
  listAliases: {
    method: 'GET',
    path: '/v1/aliases',
    tag: 'Databases',
    summary: 'List the aliases of the databases that the key may see',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The aliases', schema: 'AliasList' }],
    kind: 'reads',
    handler:
      ({ databases, timeouts }) =>
      async (request) => {
        refuseFiltered(request, 'list aliases');
        const aliases = await withTimeout(request, timeouts.responseMs, () => databases.aliases.list());
        const caller = callerOf(request);
        return { aliases: aliases.filter(({ database }) => sees(caller, database)) };
      },
  },
  readAlias: {
    method: 'GET',
    path: '/v1/aliases/{name}',
    tag: 'Databases',
    summary: 'Read which database an alias names',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The alias', schema: 'Alias' }],
    errors: ['alias_not_found'],
    kind: 'reads',
    handler:
      ({ databases, timeouts }) =>
      async (request) => {
        refuseFiltered(request, 'read aliases');
        const name = nameOf(request);
        const alias = await withTimeout(request, timeouts.responseMs, () => databases.aliases.read(name));
        if (!sees(callerOf(request), alias.database)) throw aliasNotFound(name);
        return alias;
      },
  },
  deleteAlias: {
    method: 'DELETE',
    path: '/v1/aliases/{name}',
    tag: 'Databases',
    summary: 'Delete an alias',
    description: 'Its database stays. The key must not be limited to databases.',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The alias is deleted' }],
    errors: ['alias_not_found', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply) => {
        refuseLimited(request);
        const name = nameOf(request);
        await withTimeout(request, timeouts.writeMs, () => databases.aliases.delete(name));
        return reply.code(204).send();
      },
  },
};

function nameOf(request: FastifyRequest): string {
  const { name } = request.params as { name: string };
  if (DATABASE_ID.test(name)) return name;
  throw new CosiftError('invalid_request', 'the name of an alias is 1 to 64 of a-z 0-9 _ -');
}

/** The name of an alias is one of all databases, so that a refusal would tell of databases that the key may not see. */
function refuseLimited(request: FastifyRequest): void {
  if (callerOf(request).databases === undefined) return;
  throw new CosiftError('forbidden', 'a key that is limited to databases cannot change aliases');
}
