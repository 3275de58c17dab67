export { freePort } from '../../scripts/postgres/free-port.js';
