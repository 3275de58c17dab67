import type * as Native from '../../../native/index.cjs';
import { loadEngine } from './load-engine.js';

let loaded: typeof Native | undefined;

/**
 * The native module. Only `src/store/local` uses it. The first call loads it, so that what needs no engine, such as
 * `cosift --help`, works without one.
 *
 * @throws {CosiftError} `not_installed`
 */
export function native(): typeof Native {
  loaded ??= loadEngine();
  return loaded;
}

export type {
  Backup,
  DoctorProgress,
  EngineLimits,
  NativeDoctor,
  NativeEngine,
  NativeFacets,
  NativeFailure,
  NativeKeptData,
  NativePage,
  NativePages,
  NativeQuery,
  NativeRow,
  NativeRules,
  NativeScanned,
  NativeSearch,
  NativeTexts,
  NativeWrites,
  Prepared,
  ReembeddingBatch,
  StopFlag,
} from '../../../native/index.cjs';
