import type { Databases } from '../../api/index.js';
import { isCode } from '../../errors.js';
import { type OrderedObject, parseOrdered } from '../ordered-json.js';
import type { TargetOptions } from '../target.js';
import type { JsonReader, Question } from './json-reader.js';
import { withOptionNames } from './option-names.js';

/** Reads records as the service writes them: with all members in their order, which objects of JavaScript lose. */
export interface Reader {
  readonly databases: Databases;
  page(database: string, question: Question): Promise<OrderedObject>;
  /** Returns a record, or undefined when there is none. `id` is an integer, a UUID or `key:` with a key. */
  record(database: string, id: string): Promise<OrderedObject | undefined>;
  close(): Promise<void>;
}

export async function openReader(options: TargetOptions): Promise<Reader> {
  const { page, record, ...others } = await openJsonReader(options);
  return {
    ...others,
    page: async (database, question) => {
      try {
        return parseOrdered(await page(database, question));
      } catch (error) {
        throw withOptionNames(error);
      }
    },
    record: async (database, id) => {
      try {
        return parseOrdered(await record(database, id));
      } catch (error) {
        if (isCode(error, 'record_not_found')) return undefined;
        throw error;
      }
    },
  };
}

async function openJsonReader(options: TargetOptions): Promise<JsonReader> {
  if (options.url === undefined) {
    const { openDirectoryReader } = await import('./directory-reader.js');
    return openDirectoryReader(options);
  }
  const { openServerReader } = await import('./server-reader.js');
  return openServerReader(options.url, options);
}
