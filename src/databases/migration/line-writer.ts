import { CosiftError } from '../../errors.js';
import type { RecordStore } from '../../store/record-store.js';
import type { ExportedLine } from './exported-lines.js';

/** Lines and bytes of a commit. */
const MAX_LINES = 1_000;
const MAX_BYTES = 8 << 20;

/** Commits that are in progress at the same time, so that one is read while another is written. */
const MAX_COMMITS = 2;

/** Writes exported lines into a database of another store, in batches. */
export class LineWriter {
  readonly #store: RecordStore;
  readonly #database: string;
  readonly #commits = new Set<Promise<void>>();
  #lines: ExportedLine[] = [];
  #bytes = 0;
  /** Records that are deleted before the lines are written. */
  #deleted: number[] = [];
  #failure: { error: unknown } | undefined;

  constructor(store: RecordStore, database: string) {
    this.#store = store;
    this.#database = database;
  }

  async put(line: ExportedLine): Promise<void> {
    this.#lines.push(line);
    this.#bytes += line.bytes.length;
    if (this.#lines.length >= MAX_LINES || this.#bytes >= MAX_BYTES) await this.#begin();
  }

  async delete(id: number): Promise<void> {
    this.#deleted.push(id);
    if (this.#deleted.length >= MAX_LINES) await this.#begin();
  }

  /** Resolves once everything is written. */
  async finish(): Promise<void> {
    await this.#begin();
    await Promise.all(this.#commits);
    this.#check();
  }

  async #begin(): Promise<void> {
    while (this.#commits.size >= MAX_COMMITS) await Promise.race(this.#commits);
    this.#check();
    const { lines, deleted } = { lines: this.#lines, deleted: this.#deleted };
    this.#lines = [];
    this.#deleted = [];
    this.#bytes = 0;
    const commit: Promise<void> = this.#write(lines, deleted)
      .catch((error) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#commits.delete(commit));
    this.#commits.add(commit);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #write(lines: readonly ExportedLine[], deleted: readonly number[]): Promise<void> {
    if (deleted.length > 0) await this.#store.deleteRecords(this.#database, { ids: [...deleted] });
    if (lines.length === 0) return;
    const body = Buffer.concat(lines.map(({ bytes }) => bytes));
    const prepared = await this.#store.prepareLines(this.#database, body, 1);
    const [problem] = prepared.problems();
    if (problem !== undefined) throw refused(lines, problem);
    if (prepared.texts().length > 0) {
      throw new CosiftError('internal', `a record of database "${this.#database}" came without its vector`);
    }
    const committed = await this.#store.commit(this.#database, prepared, { vectors: new Float32Array() });
    const [late] = committed.problems;
    if (late !== undefined) throw refused(lines, late);
  }
}

function refused(
  lines: readonly ExportedLine[],
  { line, problem }: { line: number; problem: { detail: string } },
): CosiftError {
  const id = lines[line - 1]?.id;
  return new CosiftError('invalid_record', `the target refuses record ${id}: ${problem.detail}`);
}
