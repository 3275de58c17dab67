export { type Attempt, loadFailure } from './load-failure.js';
export { libcName, maxDescriptors } from './platform.js';
