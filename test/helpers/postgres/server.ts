export { NO_SERVER, PostgresServer } from '../../../scripts/postgres/server.js';
