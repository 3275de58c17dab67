export { checkJson } from '../engine/index.js';
