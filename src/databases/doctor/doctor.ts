import { LinkedAbort } from '../../async/linked-abort.js';
import type { DoctorCheck } from '../../schema/index.js';
import type { Dependencies } from '../dependencies.js';
import { type ExamineAllCall, examineAll } from './examine-all.js';

/** Checks databases while they are served. */
export class Doctor {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Checks databases completely, one after the other, and changes nothing. A close ends the checks with `not_ready`. */
  async *examine(
    ids: readonly string[],
    { signal, onProgress }: ExamineAllCall,
  ): AsyncGenerator<DoctorCheck, void, undefined> {
    const { store, models, calls } = this.#dependencies;
    calls.closing.throwIfAborted();
    // An examination is no call that a close waits for, because nobody may be reading it.
    using stop = new LinkedAbort(calls.closing, signal);
    yield* examineAll(ids, (id, call) => store.examine(id, call), models, {
      signal: stop.signal,
      onProgress,
    });
  }
}
