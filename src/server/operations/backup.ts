import { DATABASE_ID } from '../../schema/index.js';
import { matching } from '../http/query-parameters.js';
import type { Operation } from './operation.js';

export const BACKUP_QUERY = {
  database: matching(
    { type: 'string', pattern: DATABASE_ID.source },
    'Id of the only database to archive, without keys and webhooks.',
    '1 to 64 of a-z 0-9 _ -',
  ),
};

export const BACKUP_OPERATIONS = {
  backup: {
    method: 'GET',
    path: '/v1/backup',
    tag: 'Service',
    summary: 'Archive of all databases, keys and webhooks, as they are at one moment',
    description:
      'Needs a key with the actions `databases.manage` and `keys.manage` for all databases. ' +
      'A response that has fewer bytes than its `content-length` is not complete.',
    actions: ['databases.manage'],
    query: BACKUP_QUERY,
    success: [{ status: 200, description: 'A tar archive for `cosift restore`', type: 'application/x-tar' }],
    errors: ['database_not_found', 'disk_full', 'store_failed'],
    kind: 'reads',
  },
} as const satisfies Record<string, Operation>;
