import { LinkedAbort } from '../async/linked-abort.js';
import { untilAborted } from '../async/until-aborted.js';
import type { StoreBackup } from '../store/record-store.js';
import type { Dependencies } from './dependencies.js';

/** Makes archives of databases. */
export class Backups {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Makes an archive of one database, or of everything: all databases, keys and webhooks, as they are at one moment. A close
   * ends the backup. Aborting `signal` does, too, because a reader that stalls does not.
   */
  async begin(database: string | undefined, signal?: AbortSignal): Promise<StoreBackup> {
    const { store, calls } = this.#dependencies;
    const call = calls.begin();
    const stop = new LinkedAbort(calls.closing, signal);
    const end = () => {
      stop.unlink();
      call[Symbol.dispose]();
    };
    try {
      const made = await store.backup(database, stop.signal);
      let released: Promise<void> | undefined;
      const release = () => {
        stop.unlink();
        released ??= made.release().finally(end);
        return released;
      };
      stop.signal.addEventListener('abort', () => void release().catch(() => undefined), { once: true });
      return { bytes: made.bytes, chunks: untilAborted(made.chunks, stop.signal), release };
    } catch (error) {
      const { aborted, reason } = stop.signal;
      end();
      throw aborted ? reason : error;
    }
  }
}
