import { readFile } from 'node:fs/promises';
import { CosiftError } from '../../errors.js';
import { columnNames } from '../../readers/option-text.js';
import type { SearchRequest } from '../../schema/index.js';
import { MAX_SEARCHES } from '../../schema/limits.js';
import { describe, printable, warn } from '../failure.js';
import { type OrderedJson, type OrderedObject, writeOrdered } from '../ordered-json.js';
import { note, writeLines } from '../output.js';
import { tableLines } from './formats.js';
import { DEFAULT_LIMIT, type ListingOptions, rowOf } from './listing.js';
import { withDatabase } from './near-names.js';
import { openReader } from './reader.js';

/** Prints what is found for each line of a file. `nothing` is printed for a line for which nothing is found. */
export async function searchFile(
  database: string,
  file: string,
  request: Omit<SearchRequest, 'search'> & { search: object },
  options: ListingOptions,
  nothing: string,
): Promise<void> {
  const { limit = DEFAULT_LIMIT, columns, distinct, vectors, json } = options;
  const names = columns && columnNames(columns);
  const texts = (await readFile(file, 'utf8')).split(/\r?\n/).filter((text) => text.trim() !== '');
  const searches = texts.map((text) => ({
    ...request,
    search: { ...request.search, text },
    pagination: { limit },
    ...(names && { columns: names }),
    ...(distinct !== undefined && { distinct }),
    ...(vectors && { vectors }),
  }));
  let failed = 0;
  await using reader = await openReader(options);
  await withDatabase(reader.databases, database, async () => {
    for (let at = 0; at < searches.length; at += MAX_SEARCHES) {
      const outcomes = await reader.pages(database, searches.slice(at, at + MAX_SEARCHES));
      for (const [i, outcome] of outcomes.entries()) {
        const text = texts[at + i] as string;
        failed += Number(outcome instanceof CosiftError);
        if (json) await writeLines([lineOf(text, outcome)]);
        else await writeTable(text, outcome, names, { isFirst: at + i === 0, nothing });
      }
    }
  });
  if (failed > 0) throw new Error(`${failed} of ${texts.length} searches failed`);
}

function lineOf(text: string, outcome: OrderedObject | CosiftError): string {
  const shown: [string, OrderedObject] =
    outcome instanceof CosiftError
      ? ['error', new Map(Object.entries({ code: outcome.code, detail: outcome.detail }))]
      : ['page', outcome];
  return writeOrdered(new Map<string, OrderedJson>([['text', text], shown]));
}

async function writeTable(
  text: string,
  outcome: OrderedObject | CosiftError,
  columns: string[] | undefined,
  { isFirst, nothing }: { isFirst: boolean; nothing: string },
): Promise<void> {
  await writeLines([...(isFirst ? [] : ['']), printable(text)]);
  if (outcome instanceof CosiftError) return warn(describe(outcome));
  const records = outcome.get('results') as OrderedObject[];
  if (records.length === 0) return note(nothing);
  const lines = await tableLines(rowOf('search', records, columns));
  await writeLines(lines(records));
}
