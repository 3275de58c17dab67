import { setTimeout as sleep } from 'node:timers/promises';
import { CosiftError, isCode } from '../../../errors.js';
import type { Snapshot, SourceConnection } from './connection.js';
import { changedKeys } from './logical-messages.js';
import type { Moment } from './moment.js';
import { quoted } from './names.js';

/** Changed rows that are read by their keys. Where there are more, the table is searched for them. */
const MAX_KEYS = 2_000;
/** Messages with so many keys, with those of their relations and transactions. */
const MAX_MESSAGES = 4 * MAX_KEYS;
/** Ends of transactions that are read at once. */
const MAX_ENDS = 100_000;
/** Bytes of the log that the server may keep for the slot. */
const MAX_KEPT = 1_073_741_824;
/** Milliseconds that the creation of a slot waits for the end of open transactions. */
const CREATE_MS = 2_000;
/** Milliseconds in which the server must have written its log to the disk. */
const FLUSH_MS = 5_000;
const FLUSH_PAUSE_MS = 10;
/** Bytes of the header of a page of the log, at most. */
const MAX_HEADER = 40n;

/** Where the log is read next. */
export interface LogPosition {
  /** Differs once the publication was changed or made again. */
  publication: string;
  lsn: string;
}

/** The rows that transactions changed. */
export interface LoggedChanges {
  /** The texts of the columns of each key. */
  keys: readonly (readonly string[])[];
  next: LogPosition;
}

/**
 * The changes of a table in the log of its server: a replication slot and a publication of one name. They tell which rows are
 * changed; what the rows have is read from the table.
 */
export class ChangeLog {
  readonly #name: string;
  /** The table with its schema, quoted, and the columns of its key: known after {@link ChangeLog.check}. */
  #table = '';
  #key: readonly string[] = [];
  /** Where the next round begins. */
  #next: LogPosition | undefined;
  /** Whether the slot was just made, so that no round has a position in it yet. */
  #isNew = false;
  /** How far the slot was moved, from the position of a bookmark on, because nothing had changed. */
  #moved: { from: string; to: bigint } | undefined;

  constructor(name: string) {
    this.#name = name;
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
        `${table} and its partitions need a primary key, which is also the \`key\`, and REPLICA IDENTITY DEFAULT`,
      );
    }
  }

  /**
   * Whether a new round may find changes. Makes the publication and the slot where they are missing; later changes are in
   * the log.
   */
  async hasChanged(connection: SourceConnection, signal: AbortSignal): Promise<boolean> {
    const from = this.#next;
    const snapshot = await connection.snapshot({ signal, rls: false });
    try {
      const slot = await this.#slot(snapshot, from);
      if (slot !== undefined) {
        if (from === undefined || !this.#continues(slot, from)) return true;
        await this.#move(snapshot, slot, from, numberOf(from.lsn));
        const flushed = await lsnOf(snapshot, 'pg_current_wal_flush_lsn()');
        if (flushed <= slot.lsn) return false;
        const changed = `SELECT FROM ${PEEK} WHERE get_byte(data, 0) IN (${codes('IUDT')}) LIMIT 1`;
        if ((await snapshot.rows(changed, [this.#name])).length > 0) return true;
        await this.#move(snapshot, slot, from, flushed);
        return false;
      }
    } finally {
      await snapshot.end();
    }
    return await this.#create(connection, signal);
  }

  /**
   * The changes of the transactions that a snapshot sees, from a position on. Undefined where the log does not have all of
   * them, or where they are too many.
   */
  async changes(
    snapshot: Snapshot,
    moment: Moment,
    from: LogPosition | undefined,
  ): Promise<LoggedChanges | undefined> {
    const slot = await this.#slot(snapshot, from);
    if (slot === undefined || from === undefined || !this.#continues(slot, from)) return undefined;
    this.#next = from;
    await this.#move(snapshot, slot, from, numberOf(from.lsn));
    const flushed = await flushedLsn(snapshot);
    const messages = `SELECT lsn::text, xid::text, encode(data, 'hex') FROM ${PEEK}
      WHERE get_byte(data, 0) IN (${codes('RIUDTC')}) LIMIT ${MAX_MESSAGES}`;
    const rows = (await snapshot.rows(messages, [this.#name])) as [string, string, string][];
    if (rows.length === MAX_MESSAGES) return undefined;
    const seen = rows.filter(([, xid]) => moment.sees(xid));
    const keys = changedKeys(
      seen.map(([, , data]) => Buffer.from(data, 'hex')),
      this.#key,
    );
    if (keys === undefined || keys.length > MAX_KEYS) return undefined;
    const ends = rows.filter(([, , data]) => data.startsWith('43'));
    return { keys, next: this.#after(ends, moment, slot, flushed) };
  }

  /** Where the changes begin that a snapshot does not see; undefined without a slot. `before` is the position before. */
  async position(
    snapshot: Snapshot,
    moment: Moment,
    before: LogPosition | undefined,
  ): Promise<LogPosition | undefined> {
    const slot = await this.#slot(snapshot, before);
    if (slot === undefined) return undefined;
    this.#isNew = false;
    const flushed = await lsnOf(snapshot, 'pg_current_wal_flush_lsn()');
    const query = `SELECT lsn::text, xid::text FROM ${PEEK} WHERE get_byte(data, 0) = ${codes('C')} LIMIT ${MAX_ENDS}`;
    const ends = (await snapshot.rows(query, [this.#name])) as [string, string][];
    return this.#after(ends, moment, slot, ends.length < MAX_ENDS ? flushed : 0n);
  }

  /** Removes the slot and the publication. */
  async drop(connection: SourceConnection, signal: AbortSignal): Promise<void> {
    const snapshot = await connection.snapshot({ signal, rls: false });
    try {
      await snapshot.rows('SET TRANSACTION READ WRITE');
      await snapshot.rows(DROP_SLOT, [this.#name]);
      await snapshot.rows(`DROP PUBLICATION IF EXISTS ${this.#name}`);
      await snapshot.rows('COMMIT');
    } finally {
      await snapshot.end();
    }
  }

  /** The position after the transactions that `moment` sees; up to `flushed` there are no others than `ends`. */
  #after(
    ends: readonly (readonly [string, string, ...unknown[]])[],
    moment: Moment,
    { publication, lsn }: Slot,
    flushed: bigint,
  ): LogPosition {
    const unseen = ends.findIndex(([, xid]) => !moment.sees(xid));
    const last = unseen === -1 ? ends.at(-1) : ends[unseen - 1];
    const places = [lsn, ...(last ? [numberOf(last[0])] : []), ...(unseen === -1 ? [flushed] : [])];
    const next = { publication, lsn: textOf(places.reduce((a, b) => (a > b ? a : b))) };
    this.#next = next;
    return next;
  }

  /** Whether the slot has all changes from a position on. */
  #continues({ lsn }: Slot, from: LogPosition): boolean {
    return lsn <= (this.#moved?.from === from.lsn ? this.#moved.to : numberOf(from.lsn));
  }

  /** Moves the slot, so that the server need not keep what is before. */
  async #move(snapshot: Snapshot, slot: Slot, from: LogPosition, to: bigint): Promise<void> {
    if (to <= slot.lsn) return;
    const [[end] = []] = await snapshot.rows(
      'SELECT end_lsn::text FROM pg_replication_slot_advance($1, $2::pg_lsn)',
      [this.#name, textOf(to)],
    );
    // It is moved to the end of a record, which may be later.
    this.#moved = { from: from.lsn, to: numberOf(end as string) };
  }

  /**
   * The slot that the position `from` is of; undefined where it is missing. One that lacks changes, or makes the server keep too
   * much, is dropped.
   */
  async #slot(snapshot: Snapshot, from: LogPosition | undefined): Promise<Slot | undefined> {
    const [row] = await snapshot.rows(SLOT, [this.#name, this.#table]);
    if (row === undefined) return undefined;
    const [lsn, isOurs, isLost, kept, publication] = row as [string, string, string, string, string | null];
    if (isOurs !== 'true')
      throw failed(
        `the replication slot ${this.#name} is of another database or another plugin: choose another name`,
      );
    const isKnown = from === undefined ? this.#isNew : from.publication === publication;
    if (isKnown && isLost !== 'true' && publication !== null && Number(kept) <= MAX_KEPT)
      return { lsn: numberOf(lsn), publication };
    await snapshot.rows(DROP_SLOT, [this.#name]);
    return undefined;
  }

  /** Makes the publication and the slot. Returns false where other transactions are open for too long. */
  async #create(connection: SourceConnection, signal: AbortSignal): Promise<boolean> {
    await this.#publish(connection, signal);
    const snapshot = await connection.snapshot({ signal, rls: false });
    try {
      await snapshot.rows(`SET LOCAL statement_timeout = ${CREATE_MS}`);
      await snapshot.rows("SELECT pg_create_logical_replication_slot($1, 'pgoutput')::text", [this.#name]);
      this.#isNew = true;
      this.#next = undefined;
      return true;
    } catch (error) {
      if (isCode(error, 'source_unavailable') && !signal.aborted) return false;
      throw error;
    } finally {
      await snapshot.end();
    }
  }

  async #publish(connection: SourceConnection, signal: AbortSignal): Promise<void> {
    const snapshot = await connection.snapshot({ signal, rls: false });
    try {
      await snapshot.rows('SET TRANSACTION READ WRITE');
      const [[version, isThere, isTaken] = []] = await snapshot.rows(PUBLICATION, [this.#name, this.#table]);
      if (isThere === 'true') return;
      // Before version 15, whole rows are published.
      const columns = Number(version) < 150_000 ? '' : ` (${this.#key.map(quoted).join(', ')})`;
      const publication = `${this.#name} FOR TABLE ${this.#table}${columns} WITH (publish_via_partition_root = true)`;
      if (isTaken === 'true')
        throw failed(`the publication ${this.#name} must be, and is not: CREATE PUBLICATION ${publication}`);
      await snapshot.rows(`CREATE PUBLICATION ${publication}`).catch((error: unknown) => {
        if (!isCode(error, 'source_failed')) throw error;
        throw failed(`${error.detail}; the owner of the table can: CREATE PUBLICATION ${publication}`);
      });
      await snapshot.rows('COMMIT');
    } finally {
      await snapshot.end();
    }
  }
}

interface Slot {
  lsn: bigint;
  publication: string;
}

const PEEK =
  "pg_logical_slot_peek_binary_changes($1::text::name, NULL, NULL, 'proto_version', '1', 'publication_names', $1::text)";

/** Whether the log has changes, the user may read them, and they have the keys of the rows before. */
const CHECK = `
  WITH parts AS (SELECT coalesce(t.relid, to_regclass($1)) AS oid
    FROM (SELECT) AS one LEFT JOIN pg_partition_tree(to_regclass($1)) AS t ON true)
  SELECT current_setting('wal_level'),
    (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user)::text,
    ((SELECT bool_and(c.relreplident = 'd') FROM parts JOIN pg_class c ON c.oid = parts.oid) AND EXISTS (
      SELECT FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisprimary AND i.indnkeyatts = cardinality($2::text[])
        AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = ANY ($2::text[])
          AND a.attnum <> ALL (i.indkey::int2[]))))::text`;

/** The publication of the table itself, if it has all of its changes. */
const PUBLISHED = `
  SELECT concat_ws(' ', p.oid, p.xmin, r.oid, r.xmin) FROM pg_publication p
  JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = to_regclass($2)
  WHERE p.pubname = $1 AND p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate
    AND to_jsonb(r)->>'prqual' IS NULL`;

const PUBLICATION = `
  SELECT current_setting('server_version_num'), (EXISTS (${PUBLISHED}))::text,
    (EXISTS (SELECT FROM pg_publication WHERE pubname = $1))::text`;

const SLOT = `
  SELECT confirmed_flush_lsn::text, (plugin = 'pgoutput' AND database = current_database())::text,
    (confirmed_flush_lsn IS NULL OR coalesce(wal_status, 'lost') = 'lost')::text,
    pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(restart_lsn, '0/0'))::text, (${PUBLISHED})
  FROM pg_replication_slots WHERE slot_name = $1`;

const DROP_SLOT =
  'SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots WHERE slot_name = $1';

/** Waits until the disk has all that the log had at the call: a transaction may be seen before that. */
async function flushedLsn(snapshot: Snapshot): Promise<bigint> {
  const [[inserted, block] = []] = await snapshot.rows(
    "SELECT pg_current_wal_insert_lsn()::text, current_setting('wal_block_size')",
  );
  const end = numberOf(inserted as string);
  const header = end % BigInt(block as string);
  // At the beginning of a page, the log ends with the page before, because only a header follows.
  const needed = header <= MAX_HEADER ? end - header : end;
  for (const last = performance.now() + FLUSH_MS; ; await sleep(FLUSH_PAUSE_MS)) {
    const flushed = await lsnOf(snapshot, 'pg_current_wal_flush_lsn()');
    if (flushed >= needed) return flushed;
    if (performance.now() > last)
      throw new CosiftError('source_unavailable', 'the source does not write its log to the disk');
  }
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
