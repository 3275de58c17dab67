export { NodePostgres, type PostgresOptions } from './node-postgres.js';
export { PostgresStore } from './postgres-store.js';
export { ServiceTables } from './service-tables.js';
export type { Sql, SqlDatabase } from './sql.js';
