import type { Databases } from '../../api/index.js';
import { besideErrors, CosiftError, isCode, refusalOf, withoutPlace } from '../../errors.js';
import type { QueryRequest, SearchRequest } from '../../schema/index.js';
import { type OrderedObject, parseOrdered, writeOrdered } from '../ordered-json.js';
import { checkDataDirectory, connection, openDirectory, openServer, type TargetOptions } from '../target.js';
import { withOptionNames } from './option-names.js';

/** What a command asks for: a search or a listing. */
export interface ListRequest {
  kind: 'search' | 'query';
  request: SearchRequest | QueryRequest;
}

/** Reads records as the service writes them: with all members in their order, which objects of JavaScript lose. */
export interface Reader extends AsyncDisposable {
  readonly databases: Databases;
  page(database: string, request: ListRequest): Promise<OrderedObject>;
  /** Returns the page of each search of a batch, or its error. */
  pages(database: string, searches: readonly SearchRequest[]): Promise<(OrderedObject | CosiftError)[]>;
  /** Returns a record, or undefined when there is none. `id` is an integer, a UUID or `key:` with a key. */
  record(database: string, id: string, vectors: boolean): Promise<OrderedObject | undefined>;
}

interface JsonReader {
  databases: Databases;
  page(database: string, request: ListRequest): Promise<string>;
  pages(database: string, searches: readonly SearchRequest[]): Promise<(OrderedObject | CosiftError)[]>;
  record(database: string, id: string, vectors: boolean): Promise<string>;
  close(): Promise<void>;
}

export async function openReader(options: TargetOptions): Promise<Reader> {
  const { url } = options;
  const reader = await (url === undefined ? readerOfDirectory(options) : readerOfServer(url, options));
  return {
    databases: reader.databases,
    page: async (database, request) => {
      try {
        return parseOrdered(await reader.page(database, request));
      } catch (error) {
        throw withOptionNames(error);
      }
    },
    pages: async (database, searches) => {
      const outcomes = await reader.pages(database, searches);
      return outcomes.map((outcome) =>
        outcome instanceof CosiftError ? (withOptionNames(outcome) as CosiftError) : outcome,
      );
    },
    record: async (database, id, vectors) => {
      try {
        return parseOrdered(await reader.record(database, id, vectors));
      } catch (error) {
        if (isCode(error, 'record_not_found')) return undefined;
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => reader.close(),
  };
}

async function readerOfDirectory(options: TargetOptions): Promise<JsonReader> {
  const { Cosift } = await import('../../library/cosift.js');
  const { checkQueryRequest, checkSearchRequest } = await import('../../schema/index.js');
  await checkDataDirectory(options);
  const databases = await openDirectory(options);
  return {
    databases: new Cosift(databases),
    page: async (database, { kind, request }) => {
      const { body } =
        kind === 'search'
          ? await databases.reader.search(database, checkSearchRequest(request), { form: 'both' })
          : await databases.reader.query(database, checkQueryRequest(request), { form: 'both' });
      return Buffer.from(body).toString('utf8');
    },
    pages: async (database, searches) => {
      const checked = searches.map((search) => {
        try {
          return checkSearchRequest(search);
        } catch (error) {
          return refusalOf(error);
        }
      });
      return await besideErrors(checked, async (valid: SearchRequest[]) => {
        const { pages } = await databases.reader.searches(database, valid, { form: 'both' });
        return pages.map((page) =>
          page instanceof CosiftError ? page : parseOrdered(Buffer.from(page).toString('utf8')),
        );
      });
    },
    record: async (database, id, vectors) => {
      const body = await databases.reader.record(database, id, { form: 'both', vectors }, {});
      return Buffer.from(body).toString('utf8');
    },
    close: () => databases.close(),
  };
}

async function readerOfServer(url: string, options: TargetOptions): Promise<JsonReader> {
  const { errorOfProblem } = await import('../../client/read-response.js');
  const { SHAPES } = await import('../../client/response-shapes.js');
  const { Transport } = await import('../../client/transport.js');
  const transport = new Transport(connection(url, options));
  const path = (database: string) => `/databases/${encodeURIComponent(database)}`;
  return {
    databases: await openServer(url, options),
    page: (database, { kind, request }) =>
      transport.text('POST', `${path(database)}/${kind}`, SHAPES[kind], request),
    pages: async (database, searches) => {
      const target = `${path(database)}/searches`;
      const text = await transport.text('POST', target, SHAPES.searches, { searches });
      return (parseOrdered(text).get('pages') as OrderedObject[]).map((outcome, at) => {
        const problem = outcome.get('problem') as OrderedObject | undefined;
        if (problem === undefined) return outcome.get('page') as OrderedObject;
        const error = errorOfProblem(JSON.parse(writeOrdered(problem)));
        return withoutPlace(error, `/searches/${at}`);
      });
    },
    record: (database, id, vectors) => {
      const query = vectors ? '?vectors=true' : '';
      return transport.text(
        'GET',
        `${path(database)}/records/${encodeURIComponent(id)}${query}`,
        SHAPES.record,
      );
    },
    close: () => transport.close(),
  };
}
