import { type NativeDoctor, native } from './binding.js';
import { unwrap } from './unwrap.js';

/** The lock of a data directory, which allows the directory to one process. */
export class DataLock {
  readonly #holder: NativeDoctor;

  private constructor(holder: NativeDoctor) {
    this.#holder = holder;
  }

  /**
   * Takes the lock, in the file {@link LOCK_FILE} of the directory.
   *
   * @throws {CosiftError} `data_locked` when another process has the directory open.
   */
  static take(directory: string): DataLock {
    // The engine locks a directory for a doctor that may repair. Nothing else is done with this one.
    return new DataLock(unwrap(native().openDoctor(directory, true)));
  }

  release(): void {
    this.#holder.close();
  }
}

/** The file whose lock is the lock of a data directory. */
export const LOCK_FILE = 'lock';
