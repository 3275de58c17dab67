import { CosiftError } from '../../errors.js';
import { type NativeRules, native } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type { StoreChangesRequest } from '../record-store.js';
import type { Catalog, CatalogEntry } from './catalog.js';
import { lastExpired } from './retention.js';
import { keyText, nativeRow } from './rows.js';
import { arrayOf, type Sql } from './sql.js';
import { changesOf, recordsOf } from './tables.js';
import { partsOf, type SizedRow, sizedRow, wholeRows } from './whole-rows.js';
import { CHANGE_KINDS } from './writer.js';

/** Changes that one call reads at most, including those that a forced filter hides. */
const MAX_READ = 10_000;
/** Changes that are tested with a forced filter at a time. */
const BATCH = 1_000;

interface ChangeRow {
  position: number;
  kind: number;
  id: number;
  uuid: string;
  key: Uint8Array | null;
  at: number;
  /** Those of the record before the change, if a forced filter is tested with it. */
  bytes: number;
}

/** Reads the change feeds. */
export class FeedReader {
  readonly #catalog: Catalog;
  readonly #keepChangesMs: number;

  constructor(catalog: Catalog, keepChangesMs: number) {
    this.#catalog = catalog;
    this.#keepChangesMs = keepChangesMs;
  }

  async changes(id: string, request: StoreChangesRequest, signal?: AbortSignal): Promise<Uint8Array> {
    return await this.#catalog.read(
      id,
      async (sql, entry) => {
        await this.#check(sql, entry, request);
        return Buffer.from(JSON.stringify(await readFeed(sql, this.#catalog.rulesOf(entry), entry, request)));
      },
      signal,
    );
  }

  /** @throws {CosiftError} `feed_restarted`, `changes_removed` */
  async #check(
    sql: Sql,
    entry: CatalogEntry,
    { after, epoch, forced_filter }: StoreChangesRequest,
  ): Promise<void> {
    const id = JSON.stringify(entry.id);
    if ((epoch !== undefined && epoch !== entry.epoch) || after > entry.position) {
      const detail = `the position belongs to another change feed of database ${id}: start again after position 0`;
      throw new CosiftError('feed_restarted', detail, { fields: { epoch: entry.epoch } });
    }
    // Writes remove old changes. Until the next write, they only count as removed.
    const expired = await lastExpired(sql, entry, this.#keepChangesMs);
    // A filter cannot tell what an adopted change hides, because it lacks the data before the change.
    const adopted = forced_filter === undefined ? 0 : entry.adopted;
    const removed = Math.max(expired, adopted);
    if (after < removed) {
      const detail =
        `changes up to position ${removed} of database ${id} are no longer kept: ` +
        `read the records, then continue after ${removed}`;
      throw new CosiftError('changes_removed', detail, { fields: { after: removed } });
    }
  }
}

async function readFeed(
  sql: Sql,
  rules: NativeRules,
  entry: CatalogEntry,
  { after, limit, forced_filter }: StoreChangesRequest,
): Promise<object> {
  const shown: object[] = [];
  let position = after;
  let hasMore = true;
  for (let read = 0; hasMore && shown.length < limit && read < MAX_READ; ) {
    const rows = await sql.run<ChangeRow>(
      `SELECT position, kind, id, uuid, key, at, ${forced_filter ? 'coalesce(octet_length(before), 0)' : '0'}::bigint AS bytes
      FROM ${changesOf(entry)} WHERE position > $1::bigint ORDER BY position LIMIT $2::integer`,
      [position, forced_filter ? BATCH : limit],
    );
    const kinds = forced_filter
      ? await visibleKinds(sql, rules, entry, rows, forced_filter)
      : rows.map(({ kind }) => CHANGE_KINDS[kind]);
    for (const [at, row] of rows.entries()) {
      if (shown.length === limit) break;
      position = row.position;
      read += 1;
      const kind = kinds[at];
      if (kind !== undefined) shown.push(changeOf(row, kind));
    }
    hasMore = position < entry.position && rows.length > 0;
  }
  return { changes: shown, position, has_more: hasMore, epoch: entry.epoch };
}

function changeOf({ position, id, uuid, key, at }: ChangeRow, kind: string): object {
  return { position, kind, id, key: keyText(key), uuid, at: native().timeText(at) };
}

/**
 * The kinds that a caller with a forced filter is shown; undefined for a hidden change. A record that passed the filter
 * before the change is shown as deleted, so that the reader of the feed removes it.
 */
async function visibleKinds(
  sql: Sql,
  rules: NativeRules,
  entry: CatalogEntry,
  rows: readonly ChangeRow[],
  forced_filter: NonNullable<StoreChangesRequest['forced_filter']>,
): Promise<(string | undefined)[]> {
  const request = JSON.stringify({ forced_filter });
  const ids = [...new Set(rows.filter(({ kind }) => CHANGE_KINDS[kind] !== 'deleted').map(({ id }) => id))];
  const current = await sql.run<SizedRow>(
    `SELECT ${sizedRow(false)} FROM ${recordsOf(entry)} WHERE id = ANY($1::bigint[])`,
    [arrayOf(ids)],
  );
  const visible = new Set<number>();
  for await (const part of wholeRows(sql, recordsOf(entry), current, false)) {
    const passesNow = unwrap(rules.passes(part.map(nativeRow), request));
    for (const [at, { id }] of part.entries()) if (passesNow[at]) visible.add(id);
  }
  const wasVisible = new Set<number>();
  const times = { created: 0, changed: 0, synced: 0 };
  for (const part of partsOf(rows.filter(({ bytes }) => bytes > 0))) {
    const former = await sql.run<{ position: number; id: number; uuid: string; before: string }>(
      `SELECT position, id, uuid, before FROM ${changesOf(entry)} WHERE position = ANY($1::bigint[])`,
      [arrayOf(part.map(({ position }) => position))],
    );
    const passedBefore = unwrap(
      rules.passes(
        former.map(({ id, uuid, before }) => ({ id, uuid, data: before, ...times })),
        request,
      ),
    );
    for (const [at, { position }] of former.entries()) if (passedBefore[at]) wasVisible.add(position);
  }
  return rows.map(({ kind, id, position }) => {
    if (CHANGE_KINDS[kind] !== 'deleted' && visible.has(id)) return CHANGE_KINDS[kind];
    return wasVisible.has(position) ? 'deleted' : undefined;
  });
}
