import type { Examination, ExamineCall } from '../record-store.js';
import { type NativeDoctor, native } from './binding.js';
import { runExamination } from './examination.js';
import { unwrap } from './unwrap.js';

/** The doctor of a data directory that no service has open. */
export class LocalDoctor {
  readonly #native: NativeDoctor;

  private constructor(doctor: NativeDoctor) {
    this.#native = doctor;
  }

  /**
   * Takes the lock of a data directory. With `repair`, examinations repair what is derived; without, nothing in the
   * directory changes.
   *
   * @throws {CosiftError} `data_locked` when another process has the directory open.
   */
  static open(directory: string, repair: boolean): LocalDoctor {
    return new LocalDoctor(unwrap(native().openDoctor(directory, repair)));
  }

  /** The databases. */
  databases(): string[] {
    return JSON.parse(unwrap(this.#native.databases()));
  }

  async examine(id: string, call: ExamineCall): Promise<Examination> {
    return runExamination(call, (stop, progress) => this.#native.examine(id, stop, progress));
  }

  close(): void {
    this.#native.close();
  }
}
