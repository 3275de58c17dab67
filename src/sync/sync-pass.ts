import { createHash } from 'node:crypto';
import type { SyncGone, SyncTarget } from '../databases/index.js';
import { CosiftError, isCode } from '../errors.js';
import type { LineSummary } from '../schema/index.js';
import { RefusedRows } from './refused-rows.js';
import { RoundLines } from './round-lines.js';
import type { Round, SourceShape, SyncSource } from './source.js';
import type { SyncCounts, SyncProgress } from './sync-progress.js';
import { MAX_REASON, parseState, type StoredSync, stateText } from './sync-state.js';

/** So many records may always be deleted, unless none would be left. */
const ALWAYS_ALLOWED = 10;

/** So often all rows are read, also where a bookmark would allow less: no source can tell every change of its rows. */
const WHOLE_MS = 86_400_000;

/** The moment that the records show is stored at least so often, although nothing changes: other processes read it. */
const KEPT_AS_OF_MS = 60_000;

/** Keys that are read from the store at a time. */
const KEYS_AT_ONCE = 50_000;

export interface PassOptions {
  name: string;
  /** How many records may be deleted. Default: a tenth of them, or ten. */
  maxDeletes: number | undefined;
  /** How many records may be deleted of those that the last pass withheld. */
  confirmed: number;
  /** Asks for all rows, although the bookmark would allow less. */
  whole: boolean;
  signal: AbortSignal;
  /** Called with the rows that were read and written so far. */
  onProgress: (progress: SyncProgress) => void;
}

/** The outcome of a pass. */
export interface Passed {
  counts: SyncCounts;
  /** The moment of the source that the records show. */
  asOf: Date;
  /** Whether all rows were compared. */
  isWhole: boolean;
}

/**
 * Brings the records of a source up to date with one of its rounds.
 *
 * Records are written batch by batch. What the source lacks is deleted after the round was read to its end, in one commit with
 * the state. So a pass that is interrupted at any moment deletes nothing. The next one asks for all rows, if this one has
 * written any.
 */
export async function syncPass(
  source: SyncSource,
  target: SyncTarget,
  options: PassOptions,
): Promise<Passed> {
  const { signal } = options;
  const { epoch, version, state, records } = await target.state();
  const before = parseState(state);
  const shape = await source.shape(signal);
  const identity = identityOf(shape);
  // A source may compare its columns with an earlier bookmark, also where it cannot continue there.
  const bookmark = before?.source === identity ? before.bookmark : null;
  let whole = options.whole || bookmark === null || !continues(before, records);
  const askedAt = new Date();
  let round = await source.round(bookmark, whole, signal);
  if (!whole && round !== null && round.kind !== 'complete' && hasUnlistedRefusals(before)) {
    await round.close();
    whole = true;
    round = await source.round(bookmark, whole, signal);
  }
  if (round === null) {
    const isDueAgain = (as_of: string) => askedAt.getTime() - Date.parse(as_of) >= KEPT_AS_OF_MS;
    const hasNews = before?.failure !== undefined || before?.by_scan !== byScan(source).by_scan;
    if (before !== null && (hasNews || isDueAgain(before.as_of))) {
      const { failure: _, by_scan: __, ...others } = before;
      const text = stateText({ ...others, ...byScan(source), as_of: askedAt.toISOString() });
      await target.remove({ ids: [], epoch, state: { name: options.name, text } }, { signal });
    }
    const counts = { ...NOTHING, refused: before?.refused.count ?? 0 };
    return { counts, asOf: askedAt, isWhole: false };
  }
  try {
    const start = { epoch, version, before, records, identity, askedAt, ...byScan(source) };
    return await applyRound(round, target, { ...options, whole }, start);
  } finally {
    await round.close();
  }
}

/** Whether the bookmark of a state says what the records are. */
function continues(before: StoredSync | null, records: number): boolean {
  return (
    before !== null &&
    !before.incomplete &&
    before.withheld === 0 &&
    before.records === records &&
    Date.now() - Date.parse(before.whole_at) < WHOLE_MS
  );
}

/** Whether rows were refused whose keys are not kept. Only a round of all rows tells which of them are still refused. */
function hasUnlistedRefusals(before: StoredSync | null): boolean {
  return before !== null && before.refused.count > before.refused.rows.length;
}

/** What a pass found before its round. */
interface Start {
  epoch: string;
  version: number;
  before: StoredSync | null;
  records: number;
  identity: string;
  askedAt: Date;
  by_scan?: string;
}

function byScan({ byScan }: SyncSource): Pick<StoredSync, 'by_scan'> {
  return byScan === undefined ? {} : { by_scan: byScan.slice(0, MAX_REASON).toWellFormed() };
}

async function applyRound(
  round: Round,
  target: SyncTarget,
  options: PassOptions,
  { epoch, version, before, records: former, identity, askedAt, by_scan }: Start,
): Promise<Passed> {
  const { name, whole, signal } = options;
  if (whole && round.kind === 'changes') {
    throw new CosiftError('internal', `the source "${name}" did not give all rows`);
  }
  const isWhole = whole || round.kind === 'complete';
  const refused = new RefusedRows(isWhole ? undefined : before?.refused);
  const prefix = `${name}/`;
  const lines = new RoundLines(round, prefix, refused);
  const store = (stored: StoredSync, deletion: SyncGone = { ids: [] }) =>
    target.remove({ ...deletion, epoch, state: { name, text: stateText(stored) } }, { signal });
  // Once records are written, the bookmark says no more what they are, until the pass is complete: a row that it wrote may be
  // gone at the next one, which a round of changes since the bookmark would not tell.
  const begin = async () => {
    if (before !== null && before.bookmark !== null && !before.incomplete)
      await store({ ...before, incomplete: true });
  };
  const { created, changed, unchanged } = await upsert(target, round, lines, begin, options);
  const { records } = await target.state();
  const { gone, unknown } = await compareKeys(target, round, { prefix, records, refused });
  if (unknown > refused.others || records !== former + created) {
    await begin();
    throw new CosiftError(
      'source_unavailable',
      `others have changed records with keys of "${name}" during the pass, so that all rows must be read`,
    );
  }
  const asOf = round.readAt;
  const chosen =
    round.kind === 'complete'
      ? { unwritten: { version, prefix } }
      : { ids: [...lines.gone, ...gone].map((key) => `key:${prefix}${key}`) };
  const state: StoredSync = {
    bookmark: round.bookmark(),
    incomplete: false,
    source: identity,
    as_of: asOf.toISOString(),
    whole_at: isWhole || before === null ? askedAt.toISOString() : before.whole_at,
    records,
    refused: { count: refused.count, rows: refused.rows },
    withheld: 0,
    ...(by_scan !== undefined && { by_scan }),
  };
  const confirmed = Math.min(options.confirmed, before?.withheld ?? 0);
  const max = Math.max(confirmed, allowed(options.maxDeletes, records, former, before));
  let [deleted, withheld] = [0, 0];
  try {
    deleted = await store(state, { ...chosen, max });
    if (deleted > 0) await store({ ...state, records: records - deleted });
  } catch (error) {
    if (!isCode(error, 'deletion_refused')) throw error;
    withheld = Number(error.fields.missing);
    await store({ ...state, withheld });
  }
  const written = created + changed;
  const counts = { read: lines.read, written, unchanged, deleted, refused: refused.count, withheld };
  return { counts, asOf, isWhole };
}

const NOTHING: SyncCounts = { read: 0, written: 0, unchanged: 0, deleted: 0, refused: 0, withheld: 0 };

/** Identifies the source and what it makes records of. The source itself tells whether the types of its columns have changed. */
function identityOf({ identity, columns, key }: SourceShape): string {
  const names = columns.map(({ name }) => name);
  return createHash('sha256').update(JSON.stringify({ identity, names, key })).digest('hex');
}

/** Writes the rows of a round. `begin` is called before the first of them. */
async function upsert(
  target: SyncTarget,
  round: Round,
  lines: RoundLines,
  begin: () => Promise<void>,
  { signal, onProgress }: PassOptions,
): Promise<LineSummary> {
  const chunks = async function* () {
    let hasBegun = false;
    for await (const chunk of lines.chunks()) {
      if (!hasBegun) await begin();
      hasBegun = true;
      yield chunk;
    }
  };
  for await (const event of target.upsert(chunks(), round.readAt.getTime(), { signal })) {
    if (event.type === 'summary') return event;
    if (event.type === 'problem') {
      lines.refuseLine(event.line, `${event.pointer}${event.pointer && ': '}${event.detail}`);
      continue;
    }
    lines.commit(event.lines);
    onProgress({ rows: event.lines, total: round.total });
  }
  throw new CosiftError('internal', 'the upsert ended without a summary');
}

/** How many records may be deleted. `former` are those that were there before the pass, of `records`. */
function allowed(
  maxDeletes: number | undefined,
  records: number,
  former: number,
  before: StoredSync | null,
): number {
  // An interrupted pass may have written records that this one did not create. They do not count, because all of them are
  // new where the source was exchanged. Before the first state, the source itself is all that is known.
  const known = before === null ? records : Math.min(before.records, former);
  const max = maxDeletes ?? Math.max(ALWAYS_ALLOWED, Math.floor(known / 10));
  // A source without rows is more likely one that failed than one that is empty.
  return Math.max(0, Math.min(max, records - 1));
}

/** Compares the keys of a round with those of the records: `gone` are without a row, `unknown` rows without a record. */
async function compareKeys(
  target: SyncTarget,
  { kind, keys, count }: Round,
  { prefix, records, refused }: { prefix: string; records: number; refused: RefusedRows },
): Promise<{ gone: string[]; unknown: number }> {
  const gone: string[] = [];
  let unknown = 0;
  if (kind !== 'keys' || keys === undefined || count?.() === records + refused.count)
    return { gone, unknown };
  const refusedHere = new Set<string>();
  const owned = ownedKeys(target, prefix)[Symbol.asyncIterator]();
  let next = await owned.next();
  for await (const part of keys) {
    for (const key of part) {
      while (!next.done && comesBefore(next.value, key)) {
        gone.push(next.value);
        next = await owned.next();
      }
      const isRefused = refused.has(key);
      if (isRefused) refusedHere.add(key);
      if (!next.done && next.value === key) next = await owned.next();
      else if (!isRefused) unknown += 1;
    }
  }
  for (; !next.done; next = await owned.next()) gone.push(next.value);
  for (const { key } of refused.rows) if (!refusedHere.has(key)) refused.remove(key);
  return { gone, unknown };
}

async function* ownedKeys(target: SyncTarget, prefix: string): AsyncGenerator<string, void, undefined> {
  for (let after: string | undefined; ; ) {
    const { keys } = await target.state({ limit: KEYS_AT_ONCE, after });
    for (const key of keys) yield key.slice(prefix.length);
    if (keys.length < KEYS_AT_ONCE) return;
    after = keys.at(-1);
  }
}

/** In the order of the bytes in UTF-8. */
function comesBefore(a: string, b: string): boolean {
  return a !== b && Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}
