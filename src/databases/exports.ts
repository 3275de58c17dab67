import { LinkedAbort } from '../async/linked-abort.js';
import { CosiftError } from '../errors.js';
import type { StoreExportRequest } from '../store/record-store.js';
import type { Dependencies } from './dependencies.js';
import type { ScopedOptions } from './scope.js';

/** Exports in progress, because each keeps the records of its moment in memory. */
const MAX_EXPORTS = 32;

export type ExportRequest = Partial<Pick<StoreExportRequest, 'filter' | 'vectors'>>;

/** Exports the records of databases. */
export class Exports {
  readonly #dependencies: Dependencies;
  #inProgress = 0;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Yields the records of one moment as NDJSON that `RecordWriter.upsertLines` takes, in the order of their integer ids.
   * A close ends the export with `not_ready`.
   *
   * @throws {CosiftError} `busy` when too many exports are in progress.
   */
  async *lines(
    id: string,
    { filter, vectors = false }: ExportRequest,
    { scope, signal }: ScopedOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { store, turns, calls } = this.#dependencies;
    calls.closing.throwIfAborted();
    if (this.#inProgress >= MAX_EXPORTS) {
      throw new CosiftError('busy', `too many exports are in progress (limit ${MAX_EXPORTS})`);
    }
    this.#inProgress += 1;
    // An export is no call that a close waits for, because nobody may be reading it.
    using stop = new LinkedAbort(calls.closing, signal);
    let isCounted = true;
    const end = () => {
      if (isCounted) this.#inProgress -= 1;
      isCounted = false;
    };
    // The store frees what an aborted export holds, even if nobody reads on.
    stop.signal.addEventListener('abort', end, { once: true });
    try {
      const endTurn = await turns.begin(id, scope?.caller, stop);
      try {
        const request = { filter, vectors, forced_filter: scope?.forcedFilter };
        yield* store.exportLines(id, request, stop.signal);
      } finally {
        endTurn();
      }
    } finally {
      end();
    }
  }
}
