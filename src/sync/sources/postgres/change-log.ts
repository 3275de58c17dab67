import { setTimeout as sleep } from 'node:timers/promises';
import { CosiftError, isCode } from '../../../errors.js';
import { codeOf } from '../../../store/postgres/store-error.js';
import type { Snapshot, SourceConnection } from './connection.js';
import { changedKeys } from './logical-messages.js';
import type { Moment } from './moment.js';

/** Changed rows that are read by their keys. Where there are more, the table is searched for them. */
const MAX_KEYS = 2_000;
/** Messages with so many keys, with those of their relations and transactions. */
const MAX_MESSAGES = 4 * MAX_KEYS;
/** Ends of transactions that are read at once. */
const MAX_ENDS = 100_000;
/** Bytes of messages that are read at once: they may have whole rows. */
const MAX_BYTES = 8_388_608;
/** Bytes of the log that the server may keep for the slot. */
const MAX_KEPT = 1_073_741_824;
/** Bytes of the log without a change of the table after which its position is stored. */
const MAX_QUIET = 4_194_304n;
/** Milliseconds that the creation of a slot waits for the end of open transactions, and between two attempts. */
const CREATE_MS = 2_000;
const CREATE_PAUSE_MS = 60_000;
/** Milliseconds without the log after it has failed. */
const FAILED_PAUSE_MS = 600_000;
/** Milliseconds in which a busy server writes its log to the disk by itself. */
const FLUSH_MS = 100;
const FLUSH_PAUSE_MS = 10;
/** Bytes of the header of a page of the log, at most. */
const MAX_HEADER = 40n;

/** Where the log is read next. */
export interface LogPosition {
  slot: string;
  /** Differs once the publication was changed or made again. */
  publication: string;
  lsn: string;
}

/** The rows that transactions changed. */
export interface LoggedChanges {
  /** The texts of the columns of each key. */
  keys: readonly (readonly string[])[];
  next: LogPosition;
  /** Whether there is anything to store. */
  isNews: boolean;
}

/**
 * The changes of a table in the log of its server: a replication slot and a publication of one name. They tell which rows are
 * changed; what the rows have is read from the table.
 */
export class ChangeLog {
  readonly #name: string;
  readonly #writer: SourceConnection;
  /** The table with its schema, quoted, and the columns of its key: known after {@link ChangeLog.check}. */
  #table = '';
  #key: readonly string[] = [];
  /** Where the next round begins. */
  #next: LogPosition | undefined;
  /** Whether the slot was just made, so that no round has a position in it yet. */
  #isNew = false;
  /** Where the slot is after it was moved to a position, which may be in a record of the log. */
  #moved: { from: string; to: bigint } | undefined;
  /** No slot is looked at before this moment of `performance.now()`. */
  #rest = 0;
  /** Why no slot could be looked at, until one can. */
  #reason: string | undefined;

  /** `writer` is not used for anything else. */
  constructor(name: string, writer: SourceConnection) {
    this.#name = name;
    this.#writer = writer;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  /** Why the log cannot be used, so that each pass scans the table; undefined while it can. */
  get unusable(): string | undefined {
    return this.#reason;
  }

  /** @throws {CosiftError} `source_failed` where the server, the table or the user does not allow it. */
  async check(snapshot: Snapshot, table: string, key: readonly string[]): Promise<void> {
    this.#table = table;
    this.#key = key;
    const [[level, mayReplicate, hasIdentity] = []] = await snapshot.rows(CHECK, [table, key]);
    if (level !== 'logical') throw failed(`the source has wal_level = ${level}, and needs logical`);
    if (mayReplicate !== 'true')
      throw failed('the user of the source needs REPLICATION: ALTER ROLE … REPLICATION');
    if (hasIdentity !== 'true') {
      throw failed(
        `${table} and its partitions must be logged, and have a primary key that is not deferrable, which is also the \`key\`, and REPLICA IDENTITY DEFAULT`,
      );
    }
  }

  /** The round that ends at a position is stored. */
  keep(position: LogPosition | undefined): void {
    this.#next = position;
  }

  /**
   * Whether a new round may find changes, or has to store how far the log was read. Makes the publication and the slot where
   * they are missing; later changes are in the log.
   */
  async hasChanged(connection: SourceConnection, signal: AbortSignal): Promise<boolean> {
    if (performance.now() < this.#rest) return false;
    try {
      this.#reason = undefined;
      return await this.#look(connection, signal);
    } catch (error) {
      const isTemporary = isCode(error, 'source_unavailable') && codeOf(error.cause) !== FULL;
      // If it lasts, the round fails, too.
      if (isTemporary) return true;
      this.#rests(FAILED_PAUSE_MS, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #rests(pauseMs: number, reason: string): void {
    this.#rest = performance.now() + pauseMs;
    this.#reason = reason;
  }

  async #look(connection: SourceConnection, signal: AbortSignal): Promise<boolean> {
    const from = this.#next;
    const snapshot = await connection.snapshot({ signal, rls: false });
    try {
      const slot = await this.#slot(snapshot, from);
      if (slot !== undefined) {
        if (from === undefined || !this.#continues(slot, from)) return true;
        await this.#move(snapshot, slot, from);
        const flushed = await this.#flushed(snapshot, signal);
        if (flushed <= slot.lsn) return false;
        const changed = `SELECT FROM ${PEEK} WHERE get_byte(data, 0) IN (${codes('IUDT')}) LIMIT 1`;
        const changes = await answered(snapshot.rows(changed, [this.#name]));
        return changes.length > 0 || flushed - numberOf(from.lsn) > MAX_QUIET;
      }
    } finally {
      await snapshot.end();
    }
    return await this.#create(connection, signal);
  }

  /** The end of the log: later snapshots see everything before it that is committed. */
  end(snapshot: Snapshot): Promise<bigint> {
    return lsnOf(snapshot, 'pg_current_wal_insert_lsn()');
  }

  /**
   * Waits until the server has written all that its log has now to the disk, because the rest cannot be read. Returns how far
   * that is. A transaction may be seen before.
   */
  async #flushed(snapshot: Snapshot, signal: AbortSignal): Promise<bigint> {
    const [[inserted, block] = []] = await snapshot.rows(
      "SELECT pg_current_wal_insert_lsn()::text, current_setting('wal_block_size')",
    );
    const end = numberOf(inserted as string);
    const header = end % BigInt(block as string);
    // At the beginning of a page, the log ends with the page before, because only a header follows.
    const needed = header <= MAX_HEADER ? end - header : end;
    for (const last = performance.now() + FLUSH_MS; ; await sleep(FLUSH_PAUSE_MS)) {
      const flushed = await lsnOf(snapshot, FLUSHED);
      if (flushed >= needed) return flushed;
      // Nobody else may commit for long.
      if (performance.now() > last) await this.#commit(signal);
    }
  }

  /** Commits a message, so that the server writes its log to the disk. */
  async #commit(signal: AbortSignal): Promise<void> {
    await written(this.#writer, signal, async (transaction) => {
      await transaction.rows('SET LOCAL synchronous_commit = local');
      await transaction.rows("SELECT pg_logical_emit_message(true, 'cosift', '')::text");
    });
  }

  /**
   * The changes of the transactions that a snapshot sees, from a position on. Undefined where the log does not have all of
   * them, or where they are too many.
   */
  async changes(
    snapshot: Snapshot,
    moment: Moment,
    from: LogPosition | undefined,
    signal: AbortSignal,
  ): Promise<LoggedChanges | undefined> {
    this.keep(from);
    if (from === undefined) return undefined;
    const slot = await this.#slot(snapshot, from);
    if (slot === undefined || !this.#continues(slot, from)) return undefined;
    await this.#move(snapshot, slot, from);
    const flushed = await this.#flushed(snapshot, signal);
    const rows = await answered(snapshot.rows(MESSAGES, [this.#name]));
    if (!(await this.#isAt(snapshot, slot))) return undefined;
    if (rows.length === MAX_MESSAGES || rows[0]?.[2] === null) return undefined;
    const messages = (rows as [string, string, string][]).map(([lsn, xid, data]) => ({
      lsn,
      isSeen: moment.sees(xid),
      data: Buffer.from(data, 'hex'),
    }));
    const keys = changedKeys(messages, this.#key);
    if (keys === undefined || keys.length > MAX_KEYS) return undefined;
    const ends = messages.filter(({ data }) => data[0] === 'C'.charCodeAt(0));
    const next = this.#positionAfter(ends, slot, flushed);
    const isFar = numberOf(next.lsn) - numberOf(from.lsn) > MAX_QUIET;
    return { keys, next, isNews: keys.length > 0 || isFar };
  }

  /**
   * Where the changes begin that a snapshot does not see; undefined without a slot that has all of them. `before` is the position
   * of the round before, `end` the end of the log before the snapshot.
   */
  async position(
    snapshot: Snapshot,
    moment: Moment,
    before: LogPosition | undefined,
    end: bigint,
  ): Promise<LogPosition | undefined> {
    // Without a position, it may be that of another process.
    if (before === undefined && !this.#isNew) return undefined;
    const slot = await this.#slot(snapshot, before);
    // Another process may have moved the slot, or dropped it and created another one.
    if (slot === undefined || slot.lsn > end) return undefined;
    const flushed = await lsnOf(snapshot, FLUSHED);
    const query = `SELECT lsn::text, xid::text FROM ${PEEK} WHERE get_byte(data, 0) = ${codes('C')} LIMIT ${MAX_ENDS}`;
    const rows = (await answered(snapshot.rows(query, [this.#name]))) as [string, string][];
    if (!(await this.#isAt(snapshot, slot))) return undefined;
    this.#isNew = false;
    const ends = rows.map(([lsn, xid]) => ({ lsn, isSeen: moment.sees(xid) }));
    return this.#positionAfter(ends, slot, ends.length < MAX_ENDS ? flushed : 0n);
  }

  /** Removes the slot and the publication. */
  async drop(connection: SourceConnection, signal: AbortSignal): Promise<void> {
    await written(connection, signal, async (transaction) => {
      await dropSlot(transaction, this.#name);
      await transaction.rows(`DROP PUBLICATION IF EXISTS ${this.#name}`).catch((error: unknown) => {
        if (!isCode(error, 'source_failed')) throw error;
        throw failed(`the slot is dropped; the owner of the publication can: DROP PUBLICATION ${this.#name}`);
      });
    });
  }

  /** The position after the transactions that are seen; up to `flushed` there are no others than `ends`. */
  #positionAfter(
    ends: readonly { lsn: string; isSeen: boolean }[],
    { publication, lsn }: Slot,
    flushed: bigint,
  ): LogPosition {
    const unseen = ends.findIndex(({ isSeen }) => !isSeen);
    const last = unseen === -1 ? ends.at(-1) : ends[unseen - 1];
    const places = [lsn, ...(last ? [numberOf(last.lsn)] : []), ...(unseen === -1 ? [flushed] : [])];
    const end = places.reduce((a, b) => (a > b ? a : b));
    return { slot: this.#name, publication, lsn: textOf(end) };
  }

  /** Whether the slot has all changes from a position on. */
  #continues({ lsn }: Slot, from: LogPosition): boolean {
    return lsn <= (this.#moved?.from === from.lsn ? this.#moved.to : numberOf(from.lsn));
  }

  /** Moves the slot to the position that is stored, so that the server need not keep what is before. */
  async #move(snapshot: Snapshot, slot: Slot, { lsn }: LogPosition): Promise<void> {
    if (numberOf(lsn) <= slot.lsn) return;
    const move = 'SELECT end_lsn::text FROM pg_replication_slot_advance($1, $2::pg_lsn)';
    const [[end] = []] = await answered(snapshot.rows(move, [this.#name, lsn]));
    slot.lsn = numberOf(end as string);
    this.#moved = { from: lsn, to: slot.lsn };
  }

  /** Whether no other process has moved the slot. */
  async #isAt(snapshot: Snapshot, { lsn }: Slot): Promise<boolean> {
    const place = 'SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = $1';
    const [[now] = []] = await snapshot.rows(place, [this.#name]);
    return now !== undefined && now !== null && numberOf(now) === lsn;
  }

  /**
   * The slot that the position `from` is of; undefined where it is missing. One that lacks changes, or makes the server keep too
   * much, is dropped.
   */
  async #slot(snapshot: Snapshot, from: LogPosition | undefined): Promise<Slot | undefined> {
    const [row] = await snapshot.rows(SLOT, [this.#name, this.#table]);
    if (row === undefined) return undefined;
    const [lsn, isOurs, isLost, kept, publication, isTaken] = row;
    if (isOurs !== 'true' || isTaken === 'true')
      throw failed(
        `the replication slot ${this.#name} is of another database, another table or another plugin: choose another name`,
      );
    const isKnown = from === undefined ? this.#isNew : from.publication === publication;
    if (isKnown && isLost !== 'true' && publication && Number(kept) <= MAX_KEPT)
      return { lsn: numberOf(lsn as string), publication };
    await dropSlot(snapshot, this.#name);
    return undefined;
  }

  /** Makes the publication and the slot. Returns false where other transactions are open for too long. */
  async #create(connection: SourceConnection, signal: AbortSignal): Promise<boolean> {
    await this.#publish(connection, signal);
    // Not the given signal: a server that was asked for a slot makes it, also for a connection that was closed.
    const snapshot = await connection.snapshot({ signal: AbortSignal.timeout(2 * CREATE_MS), rls: false });
    try {
      await snapshot.rows(`SET LOCAL statement_timeout = ${CREATE_MS}`);
      const create = "SELECT pg_create_logical_replication_slot($1, 'pgoutput')::text";
      await answered(snapshot.rows(create, [this.#name]));
      if (signal.aborted) await dropSlot(snapshot, this.#name);
      signal.throwIfAborted();
      this.#isNew = true;
      this.#next = undefined;
      return true;
    } catch (error) {
      if (!(error instanceof CosiftError) || codeOf(error.cause) !== CANCELLED) throw error;
      this.#rests(
        CREATE_PAUSE_MS,
        'other transactions are open, so that the server makes no replication slot',
      );
      return false;
    } finally {
      await snapshot.end();
    }
  }

  async #publish(connection: SourceConnection, signal: AbortSignal): Promise<void> {
    await written(connection, signal, async (transaction) => {
      const [[isThere, isTaken] = []] = await transaction.rows(PUBLICATION, [this.#name, this.#table]);
      if (isThere === 'true') return;
      // A list of columns would keep the owner from some changes of the table.
      const publication = `${this.#name} FOR TABLE ${this.#table} WITH (publish_via_partition_root = true)`;
      if (isTaken === 'true')
        throw failed(`the publication ${this.#name} must be, and is not: CREATE PUBLICATION ${publication}`);
      await transaction.rows(`CREATE PUBLICATION ${publication}`).catch((error: unknown) => {
        if (!isCode(error, 'source_failed')) throw error;
        throw failed(`${error.detail}; the owner of the table can: CREATE PUBLICATION ${publication}`);
      });
    });
  }
}

/** Runs `work` in a transaction that may write, and commits it. */
async function written(
  connection: SourceConnection,
  signal: AbortSignal,
  work: (transaction: Snapshot) => Promise<void>,
): Promise<void> {
  const transaction = await connection.snapshot({ signal, rls: false });
  try {
    await transaction.rows('SET TRANSACTION READ WRITE');
    await work(transaction);
    await transaction.rows('COMMIT');
  } finally {
    await transaction.end();
  }
}

interface Slot {
  lsn: bigint;
  publication: string;
}

/** A statement was cancelled, such as after its time; the server has no room for another slot. */
const CANCELLED = '57014';
const FULL = '53400';
/** The slot is used, moved, dropped or made by another process: missing, active, moved already, there already, being made. */
const RACES = ['42704', '55006', '22023', '42710', '55000'];

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof CosiftError) || !RACES.includes(codeOf(error.cause) ?? '')) throw error;
    throw new CosiftError('source_unavailable', `\`stream\`: ${error.detail}`, { cause: error });
  }
}

const FLUSHED = 'pg_current_wal_flush_lsn()';

const PEEK =
  "pg_logical_slot_peek_binary_changes($1::text::name, NULL, NULL, 'proto_version', '1', 'publication_names', $1::text)";

/** The messages; without their data where they are too many bytes. */
const MESSAGES = `
  WITH messages AS MATERIALIZED (SELECT lsn, xid, data FROM ${PEEK}
    WHERE get_byte(data, 0) IN (${codes('RIUDTC')}) LIMIT ${MAX_MESSAGES})
  SELECT lsn::text, xid::text,
    CASE WHEN (SELECT sum(length(data)) FROM messages) <= ${MAX_BYTES} THEN encode(data, 'hex') END FROM messages`;

/** Whether the log has changes, the user may read them, and they have the keys of the rows before. */
const CHECK = `
  WITH parts AS (SELECT coalesce(t.relid, to_regclass($1)) AS oid
    FROM (SELECT) AS one LEFT JOIN pg_partition_tree(to_regclass($1)) AS t ON true)
  SELECT current_setting('wal_level'),
    (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user)::text,
    ((SELECT bool_and(c.relreplident = 'd' AND c.relpersistence = 'p') FROM parts JOIN pg_class c ON c.oid = parts.oid)
      AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisprimary AND i.indimmediate
        AND i.indisvalid AND i.indnkeyatts = cardinality($2::text[]) AND NOT EXISTS (
          SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = ANY ($2::text[])
            AND a.attnum <> ALL ((i.indkey::int2[])[0:i.indnkeyatts - 1]))))::text`;

/** The publication of the table itself, if it has all of its changes. */
const PUBLISHED = `
  SELECT concat_ws(' ', p.oid, p.xmin, r.oid, r.xmin) FROM pg_publication p
  JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = to_regclass($2)
  WHERE p.pubname = $1 AND p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate
    AND to_jsonb(r)->>'prqual' IS NULL`;

const PUBLICATION = `
  SELECT (EXISTS (${PUBLISHED}))::text,
    (EXISTS (SELECT FROM pg_publication WHERE pubname = $1))::text`;

const SLOT = `
  SELECT confirmed_flush_lsn::text, (plugin = 'pgoutput' AND database = current_database())::text,
    (confirmed_flush_lsn IS NULL OR coalesce(wal_status, 'lost') = 'lost')::text,
    pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(restart_lsn, '0/0'))::text, (${PUBLISHED}),
    (EXISTS (SELECT FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid <> to_regclass($2)
      WHERE p.pubname = $1))::text
  FROM pg_replication_slots WHERE slot_name = $1`;

const DROP_SLOT = `
  SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots
  WHERE slot_name = $1 AND plugin = 'pgoutput' AND database = current_database()`;

/** Removes a slot, so that the server need not keep its log. */
export async function dropSlot(snapshot: Snapshot, name: string): Promise<void> {
  await answered(snapshot.rows(DROP_SLOT, [name]));
}

async function lsnOf(snapshot: Snapshot, call: string): Promise<bigint> {
  const [[text] = []] = await snapshot.rows(`SELECT ${call}::text`);
  return numberOf(text as string);
}

function numberOf(lsn: string): bigint {
  const [high = '', low = ''] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

function textOf(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`;
}

/** The codes of kinds of messages, as SQL writes a list. */
function codes(kinds: string): string {
  return [...kinds].map((kind) => kind.charCodeAt(0)).join(', ');
}

function failed(reason: string): CosiftError {
  return new CosiftError('source_failed', `\`stream\`: ${reason}`);
}
