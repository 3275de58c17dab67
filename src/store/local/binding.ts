import { createRequire } from 'node:module';
import type * as Native from '../../../native/index.cjs';

const require = createRequire(import.meta.url);

/** The native module. `src/store/local` alone imports it; src and dist lie beside `native` alike. */
export const native = require('../../../native/index.cjs') as typeof Native;

export type {
  NativeCommitted,
  NativeEngine,
  NativeFailure,
  NativeLineProblem,
  NativeMeter,
  NativePage,
  NativeProblem,
  NativeScanStats,
  Prepared,
  ReembeddingBatch,
} from '../../../native/index.cjs';
