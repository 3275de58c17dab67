/** cosift as a library: `open` a data directory, and search it in this process. */

import './platform/dispose-symbols.js';

export * from './api/index.js';
export type { ModelCall, ModelFunction, ModelSource } from './databases/public-types.js';
export { Cosift, type OpenOptions, open } from './library/cosift.js';
