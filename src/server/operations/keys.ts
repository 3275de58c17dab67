import { flag } from '../http/query-parameters.js';
import { type Operation, WRITE_ERRORS } from './operation.js';

const KEY_ERRORS = ['busy', ...WRITE_ERRORS] as const;

export const REVOKE_QUERY = {
  descendants: flag(
    'Also revoke the keys that the key issued, directly or through others; default: `false`.',
    '"true" or "false"',
  ),
};

export const KEYS_OPERATIONS = {
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
  },
  listKeys: {
    method: 'GET',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'List the keys that this key could have issued',
    actions: ['keys.manage'],
    success: [{ status: 200, description: 'The keys, without their secrets', schema: 'KeyList' }],
  },
  readOwnKey: {
    method: 'GET',
    path: '/v1/keys/self',
    tag: 'Keys',
    summary: 'Read what the key of the request may do',
    success: [{ status: 200, description: 'The key, without its secret', schema: 'OwnKey' }],
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
  },
} as const satisfies Record<string, Operation>;
