export { NodePostgres, type PostgresOptions } from './node-postgres.js';
export { PostgresStore } from './postgres-store.js';
export type { Sql, SqlDatabase } from './sql.js';
