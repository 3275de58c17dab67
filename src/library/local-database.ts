import { Database } from '../api/database.js';
import { refuseMore } from '../api/refuse-more.js';
import { DATABASE_ID } from '../schema/ids.js';
import { callback, integer, matching, members, signal } from '../schema/option-checks.js';
import { checkMembers } from '../schema/options.js';
import type { Columns, Data } from '../schema/public-types.js';
import {
  columnList,
  columnOrList,
  duration,
  IterableSource,
  millisecondsOf,
  openTableSource,
  type Sync,
  type SyncProgress,
  TABLE_SOURCE,
  type TableSource as Table,
} from '../sync/index.js';
import { openSync } from '../sync/open-sync.js';
import type { Handle } from './handle.js';
import { LocalPort } from './local-port.js';

/** What is the same for each source that a database is kept in step with. */
interface AnySource {
  /**
   * Names the source within the database: 1 to 64 of a-z 0-9 _ -. The key of a record is this name, `/`, and the key of its row.
   * Records with other keys are not touched.
   */
  name: string;
  /**
   * How many records a pass may delete. If the rows lack more, these records stay until `confirm`. Default: a tenth of the
   * records of the source, or ten; none if there are no rows.
   */
  maxDeletes?: number | undefined;
  /**
   * Follows the source until the sync is closed: the time from the end of a pass to the next one, such as `10s`. Default:
   * passes are made only when they are asked for.
   */
  every?: string | undefined;
}

/** Rows that a database is kept in step with. */
export interface RowSource extends AnySource {
  /** Returns all rows of one moment, one object each. It is called for every pass. */
  rows: () => Iterable<object> | AsyncIterable<object>;
  /** The column, or the columns, whose values identify a row: texts or numbers. */
  key: string | readonly string[];
  /** The columns that records have. Default: all. */
  columns?: readonly string[] | undefined;
  /** The columns with the times at which a row was created and last changed: dates, or texts in ISO 8601. */
  times?: { readonly created?: string | undefined; readonly changed?: string | undefined } | undefined;
}

/** A table, a view or a query of PostgreSQL or SQLite that a database is kept in step with. */
export interface TableSource extends AnySource, Table {}

/** Options of {@link LocalDatabase.sync}. */
export interface SyncOptions {
  /** Closes the sync. Its running call fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called after each commit of a pass. */
  onProgress?: ((progress: SyncProgress) => void) | undefined;
}

const sourceMembers = {
  name: matching('1 to 64 of a-z 0-9 _ -', DATABASE_ID),
  maxDeletes: integer(0, Number.MAX_SAFE_INTEGER),
  every: duration,
};
const checkRowSource = members(
  { ...sourceMembers, rows: callback, key: columnOrList, columns: columnList, times: TABLE_SOURCE.times },
  ['name', 'rows', 'key'],
);
const checkTableSource = members({ ...sourceMembers, ...TABLE_SOURCE }, ['name', 'from', 'columns']);
const checkSyncOptions = members({ signal, onProgress: callback }, []);

/** One database of this process. */
export class LocalDatabase<T extends Columns<T> = Data> extends Database<T> {
  static {
    refuseMore(LocalDatabase);
  }

  readonly #handle: Handle;

  /** @internal Made by `Cosift`. */
  constructor(id: string, handle: Handle) {
    super(id, new LocalPort(handle, id));
    this.#handle = handle;
  }

  /**
   * Opens a sync, which keeps the records of a source in step with its rows. `once` makes a complete pass: it writes the rows that
   * are new or have changed, and deletes the records whose rows are gone. A row that has not changed is not embedded again.
   * `inStep` resolves when the rows of a later moment are searchable. `reconcile` reads all rows, where a pass would read only
   * those that changed.
   *
   * A pass that is interrupted deletes nothing, and the next one completes it. A row that cannot become a record is listed by
   * `status`, and its former record is deleted. An alias is resolved when the sync is opened.
   *
   * @throws {CosiftError} `busy` while another sync of the name is open in the database; `read_only`.
   *
   * @example
   * ```ts
   * const rows = () => [{ sku: 'A-1', name: 'Kettle', price: 29 }, { sku: 'B-7', name: 'Toaster', price: 35 }];
   * const sync = await facts.sync({ name: 'shop', rows, key: 'sku' });
   * const { written, deleted } = await sync.once();
   * await sync.close();
   * ```
   */
  async sync(source: RowSource | TableSource, options?: SyncOptions): Promise<Sync> {
    checkMembers('rows' in source ? checkRowSource : checkTableSource, source);
    checkMembers(checkSyncOptions, options ?? {});
    const { name, maxDeletes, every, ...from } = source;
    const { signal, onProgress } = options ?? {};
    signal?.throwIfAborted();
    const databases = this.#handle.writable;
    const opened = 'rows' in from ? rowsOf(from) : await openTableSource(structuredClone(from));
    const everyMs = every === undefined ? undefined : millisecondsOf(every);
    return await openSync(databases, this.id, opened, { name, maxDeletes, signal, onProgress, everyMs });
  }
}

function rowsOf({ rows, key, columns, times = {} }: Omit<RowSource, keyof AnySource>): IterableSource {
  return new IterableSource({
    rows,
    key: typeof key === 'string' ? [key] : [...key],
    columns: columns && [...columns],
    times: { ...times },
  });
}
