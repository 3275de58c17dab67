export { type Attempt, loadFailure } from './load-failure.js';
export { libcName } from './platform.js';
