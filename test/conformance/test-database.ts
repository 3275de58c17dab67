import { expect } from 'vitest';
import type { ChangesRequest } from '../../src/databases/change-feed.js';
import type { ExportRequest } from '../../src/databases/exports.js';
import type { Scope } from '../../src/databases/scope.js';
import { CosiftError } from '../../src/errors.js';
import {
  type BatchResult,
  type Changes,
  type ColumnValue,
  checkDeleteRequest,
  checkSchema,
  type Data,
  type DatabaseDescription,
  type EmbeddedPassage,
  type FacetCounts,
  type FilterGroup,
  type LineEvent,
} from '../../src/schema/index.js';
import { checkServiceSchema } from '../../src/server/variants/schemas.js';
import { formOfId } from '../../src/server/variants/variants.js';
import type { RecordForm } from '../../src/store/record-store.js';
import { FORMS } from '../helpers/forms.js';
import type { OpenedDatabases } from './open-databases.js';

/** One result of a page, in any form. */
export interface Result {
  id: string | number;
  uuid?: string;
  relevance_score?: number;
  data: Data;
  timestamps: Record<string, string>;
  group?: { value: ColumnValue; count: number };
  explain?: Record<string, unknown>;
  vector?: number[];
  passages?: EmbeddedPassage[];
  highlights?: Record<string, [number, number][]>;
  embedded_by?: string;
}

export interface Page {
  results: Result[];
  pagination: { limit: number; has_more: boolean; next_cursor?: string };
  total?: { value: number };
  facets?: FacetCounts[];
  explain?: Record<string, unknown>;
}

/** Options of a request. The default is the form of integers without a forced filter. */
export interface Asking {
  form?: RecordForm;
  forcedFilter?: FilterGroup;
  signal?: AbortSignal;
  check?: () => void;
}

export type Operation = 'search' | 'query';

export interface DrainOptions extends Asking {
  /** The limit of each page. */
  limit?: () => number;
  /** Runs after each page but the last. */
  between?: (page: Page) => Promise<void> | void;
}

/**
 * One database of the service under test. Requests are checked by the schemas before the service gets them, as the
 * routes do, and every response must match its schema.
 */
export class TestDatabase {
  readonly #opened: OpenedDatabases;
  readonly id: string;

  constructor(opened: OpenedDatabases, id: string) {
    this.#opened = opened;
    this.id = id;
  }

  get databases() {
    return this.#opened.databases;
  }

  /** Upserts records that are given as values, or as the text of a batch. */
  async upsert(
    records: readonly object[] | string,
    options: { signal?: AbortSignal; vectors?: Float32Array } = {},
  ): Promise<BatchResult> {
    const body = typeof records === 'string' ? records : JSON.stringify({ records });
    const result = parse<BatchResult>(
      await this.databases.writer.upsertBatch(this.id, Buffer.from(body), options),
    );
    checkSchema('BatchResult', result);
    return result;
  }

  /** Upserts one record; returns what happened to it. */
  async put(record: object): Promise<'created' | 'changed' | 'unchanged'> {
    const { results } = await this.upsert([record]);
    expect(results).toHaveLength(1);
    return results[0]!.status;
  }

  /** Upserts a stream of NDJSON; returns all its events. */
  async upsertLines(
    chunks: AsyncIterable<Uint8Array> | string,
    options: { signal?: AbortSignal; check?: () => void } = {},
  ): Promise<LineEvent[]> {
    return eventsOf(this.databases.writer.upsertLines(this.id, sourceOf(chunks), options));
  }

  /** Replaces all records by a stream of NDJSON; returns all its events. */
  async replaceLines(
    chunks: AsyncIterable<Uint8Array> | string,
    options: { maxDeletes?: number; signal?: AbortSignal; check?: () => void } = {},
  ): Promise<LineEvent[]> {
    return eventsOf(this.databases.writer.replaceLines(this.id, sourceOf(chunks), options));
  }

  /** All lines of an export. */
  async export(request: ExportRequest = {}, { forcedFilter, signal }: Asking = {}): Promise<string[]> {
    const options = { scope: scopeOf(forcedFilter), ...(signal && { signal }) };
    let text = '';
    for await (const chunk of this.databases.exports.lines(this.id, request, options)) {
      expect(chunk.at(-1), 'a chunk ends with a line').toBe(10);
      text += Buffer.from(chunk).toString('utf8');
    }
    const lines = text.split('\n').slice(0, -1);
    for (const line of lines) checkServiceSchema('NewRecord', JSON.parse(line));
    return lines;
  }

  async search(request: object, asking: Asking = {}): Promise<Page> {
    const { form = 'integer' } = asking;
    const checked = FORMS[form].search(request);
    return this.#page(form, await this.databases.reader.search(this.id, checked, pageOptions(asking)));
  }

  /** The page of each search of a batch, or its error. */
  async searches(requests: readonly object[], asking: Asking = {}): Promise<(Page | CosiftError)[]> {
    const { form = 'integer' } = asking;
    const checked = requests.map((request) => FORMS[form].search(request));
    const { pages, timings } = await this.databases.reader.searches(this.id, checked, pageOptions(asking));
    return pages.map((body) => (body instanceof CosiftError ? body : this.#page(form, { body, timings })));
  }

  async query(request: object = {}, asking: Asking = {}): Promise<Page> {
    const { form = 'integer' } = asking;
    const checked = FORMS[form].query(request);
    return this.#page(form, await this.databases.reader.query(this.id, checked, pageOptions(asking)));
  }

  ask(operation: Operation, request: object, asking: Asking = {}): Promise<Page> {
    return operation === 'search' ? this.search(request, asking) : this.query(request, asking);
  }

  /** The results of all pages. Every page must be full, or the last. */
  async drain(
    operation: Operation,
    request: object,
    { limit = () => 100, between, ...asking }: DrainOptions = {},
  ): Promise<Result[]> {
    const results: Result[] = [];
    for (let cursor: string | undefined; ; ) {
      const pagination = { limit: limit(), ...(cursor !== undefined && { cursor }) };
      const page = await this.ask(operation, { ...request, pagination }, asking);
      expect(page.pagination.limit).toBe(pagination.limit);
      expect(page.results.length).toBeLessThanOrEqual(pagination.limit);
      results.push(...page.results);
      const { has_more, next_cursor } = page.pagination;
      expect(next_cursor !== undefined, 'next_cursor is given exactly when there is more').toBe(has_more);
      if (next_cursor === undefined) return results;
      expect(page.results, 'a page that is not the last is full').toHaveLength(pagination.limit);
      cursor = next_cursor;
      await between?.(page);
    }
  }

  /** The ids of all pages. */
  async ids(operation: Operation, request: object, options: DrainOptions = {}): Promise<(string | number)[]> {
    return (await this.drain(operation, request, options)).map(({ id }) => id);
  }

  async record(
    recordId: string | number,
    form: RecordForm = 'integer',
    forcedFilter?: FilterGroup,
    vectors?: boolean,
  ): Promise<Result> {
    const scope = scopeOf(forcedFilter);
    const body = await this.databases.reader.record(this.id, String(recordId), { form, vectors }, scope);
    const record = parse<Result>(body);
    checkServiceSchema(FORMS[form].record, record);
    return record;
  }

  /** Patches a record by changes of its columns, or by the text of a patch; returns the record that the response shows. */
  async patch(
    recordId: string | number,
    changes: object | string,
    options: { signal?: AbortSignal } = {},
  ): Promise<Result> {
    const body = typeof changes === 'string' ? changes : JSON.stringify({ data: changes });
    const form = formOfId(recordId);
    const id = String(recordId);
    const response = await this.databases.writer.patchRecord(this.id, id, form, Buffer.from(body), options);
    const record = parse<Result>(response);
    checkServiceSchema(FORMS[form].record, record);
    return record;
  }

  /** Deletes records; returns how many there were. */
  async delete(request: object, { forcedFilter, signal }: Asking = {}): Promise<number> {
    const options = { scope: scopeOf(forcedFilter), ...(signal && { signal }) };
    const { deleted } = await this.databases.writer.deleteRecords(
      this.id,
      checkDeleteRequest(request),
      options,
    );
    return deleted;
  }

  async changes(request: Partial<ChangesRequest> = {}, asking: Asking = {}): Promise<Changes> {
    const { forcedFilter, signal } = asking;
    const feed = parse<Changes>(
      await this.databases.feed.read(
        this.id,
        { after: 0, limit: 100, waitMs: 0, ...request },
        { scope: scopeOf(forcedFilter), ...(signal && { signal }) },
      ),
    );
    checkSchema('Changes', feed);
    return feed;
  }

  /** All changes after a position, read `limit` at a time, as `created 1`. */
  async history(after = 0, { limit = 100, ...asking }: Asking & { limit?: number } = {}): Promise<string[]> {
    const history: string[] = [];
    for (let position = after; ; ) {
      const feed = await this.changes({ after: position, limit }, asking);
      expect(feed.changes.length).toBeLessThanOrEqual(limit);
      for (const change of feed.changes) {
        expect(change.position).toBeGreaterThan(position);
        position = change.position;
        history.push(`${change.kind} ${change.id}`);
      }
      expect(feed.position).toBeGreaterThanOrEqual(position);
      position = feed.position;
      if (!feed.has_more) return history;
    }
  }

  async describe(): Promise<DatabaseDescription> {
    const description = await this.databases.catalog.describe(this.id);
    checkSchema('DatabaseDescription', description);
    return description;
  }

  async count(): Promise<number> {
    return (await this.describe()).records;
  }

  #page(form: RecordForm, { body, timings }: { body: Uint8Array; timings: object }): Page {
    const page = parse<Page>(body);
    checkServiceSchema(FORMS[form].page, page);
    for (const time of Object.values(timings)) expect(time).toBeGreaterThanOrEqual(0);
    return page;
  }
}

function sourceOf(chunks: AsyncIterable<Uint8Array> | string): AsyncIterable<Uint8Array> {
  return typeof chunks === 'string' ? chunksOf([chunks]) : chunks;
}

async function eventsOf(given: AsyncIterable<LineEvent>): Promise<LineEvent[]> {
  const events = [];
  for await (const event of given) {
    checkSchema('LineEvent', event);
    events.push(event);
  }
  return events;
}

/** Yields each text as a chunk of bytes. */
export async function* chunksOf(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

export function pageOptions({ form = 'integer', forcedFilter, signal, check }: Asking) {
  return { form, scope: scopeOf(forcedFilter), ...(signal && { signal }), ...(check && { check }) };
}

function scopeOf(forcedFilter: FilterGroup | undefined): Scope {
  return forcedFilter === undefined ? {} : { forcedFilter };
}

export function parse<T>(body: Uint8Array): T {
  return JSON.parse(Buffer.from(body).toString('utf8'));
}
