import { createRequire } from 'node:module';
import type * as Native from '../../../native/index.cjs';

const require = createRequire(import.meta.url);

/** The native module. Only `src/store/local` imports it. The path is the same from `src` and from `dist`. */
export const native = require('../../../native/index.cjs') as typeof Native;

export type {
  NativeEngine,
  NativeFailure,
  NativePage,
  Prepared,
  ReembeddingBatch,
} from '../../../native/index.cjs';
