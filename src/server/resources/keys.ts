import { checkKeyRequest } from '../../schema/index.js';
import { callerOf } from '../admission/access.js';
import { flag, type Values } from '../http/query-parameters.js';
import { WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

const KEY_ERRORS = ['busy', ...WRITE_ERRORS] as const;

const REVOKE_QUERY = {
  descendants: flag(
    'Also revoke the keys that the key issued, directly or through others; default: `false`.',
    '"true" or "false"',
  ),
};

export const KEYS: Resource = {
  issueKey: {
    method: 'POST',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'Issue a key',
    description:
      'A key can do no more than its issuer and expires no later: without `expires_at` it expires with its issuer. ' +
      'A key with a `filter` sees only the records that pass it, and cannot upsert, describe databases or manage anything.',
    actions: ['keys.manage'],
    body: 'KeyRequest',
    showsSecret: true,
    success: [
      { status: 201, description: 'The key with its secret, which is shown only here', schema: 'IssuedKey' },
    ],
    errors: ['invalid_filter', 'invalid_time', ...KEY_ERRORS],
    handler:
      ({ keys, limits }) =>
      async (request, reply) => {
        const wanted = checkKeyRequest(request.body, limits);
        return reply.code(201).send(await keys.issue(wanted, callerOf(request)));
      },
  },
  listKeys: {
    method: 'GET',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'List the keys that this key could have issued',
    actions: ['keys.manage'],
    success: [{ status: 200, description: 'The keys, without their secrets', schema: 'KeyList' }],
    handler:
      ({ keys }) =>
      async (request) => {
        return { keys: await keys.list(callerOf(request)) };
      },
  },
  readOwnKey: {
    method: 'GET',
    path: '/v1/keys/self',
    tag: 'Keys',
    summary: 'Read what the key of the request may do',
    success: [{ status: 200, description: 'The key, without its secret', schema: 'OwnKey' }],
    handler: () => async (request) => {
      const { keyId, name, actions, databases, expiresAt, filter } = callerOf(request);
      return {
        key_id: keyId,
        name,
        actions: [...actions],
        databases: databases === undefined ? '*' : [...databases],
        ...(Number.isFinite(expiresAt) && { expires_at: new Date(expiresAt).toISOString() }),
        filtered: filter !== undefined,
      };
    },
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    tag: 'Keys',
    summary: 'Revoke a key at once',
    description:
      'Only a key that this key could have issued. Keys that the revoked key issued stay valid unless `descendants` is true.',
    actions: ['keys.manage'],
    query: REVOKE_QUERY,
    success: [{ status: 204, description: 'The key is revoked' }],
    errors: ['key_not_found', ...KEY_ERRORS],
    handler:
      ({ keys }) =>
      async (request, reply) => {
        const { key_id } = request.params as { key_id: string };
        await keys.revoke(key_id, callerOf(request), request.query as Values<typeof REVOKE_QUERY>);
        return reply.code(204).send();
      },
  },
};
