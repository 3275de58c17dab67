import { MODEL_ERRORS, type Operation, WRITE_ERRORS } from './operation.js';

export const DATABASES_OPERATIONS = {
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
  },
  listDatabases: {
    method: 'GET',
    path: '/v1/databases',
    tag: 'Databases',
    summary: 'List the databases that the key may see',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The databases', schema: 'DatabaseList' }],
    kind: 'reads',
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
  },
} as const satisfies Record<string, Operation>;
