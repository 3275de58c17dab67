import type { Database, Databases } from '../../api/index.js';
import { CosiftError, isCode } from '../../errors.js';
import { addedFormats, differences } from '../../readers/column-formats.js';
import { OtherKind } from '../../readers/identity/other-kind.js';
import type { Input, InputOptions } from '../../readers/input.js';
import type { Row } from '../../readers/rows.js';
import {
  BUILT_IN_MODEL,
  type DatabaseDescription,
  type DatabaseSettings,
  type ValueFormats,
} from '../../schema/index.js';
import { type EmbedOptions, embedIn } from '../embed-options.js';
import { describe, printable } from '../failure.js';
import { type LexicalOptions, lexicalIn } from '../lexical-options.js';
import { duration, type ProgressBar, plural } from '../progress-bar.js';
import type { TargetOptions } from '../target.js';
import { type AttemptCalls, Attempts } from './attempts.js';
import type { BadRows } from './bad-rows.js';
import { type UpsertCalls, type UpsertResult, upsertResumably } from './resumable-upsert.js';
import { SearchedText } from './searched-text.js';
import { reportTakenIds } from './taken-ids.js';

export interface ImportOptions extends TargetOptions, InputOptions, EmbedOptions, LexicalOptions {
  database: string;
  dimensions?: number;
  badRows?: string;
  dryRun?: boolean;
  deleteMissing?: boolean;
  maxDeletes?: number;
}

export interface StoreResult
  extends Pick<UpsertResult, 'created' | 'changed' | 'unchanged' | 'earlier' | 'deleted'> {
  /** What no search by meaning finds; absent where records bring their vectors, or where it is not known. */
  searched?: SearchedText | undefined;
}

/** What an import uses while records are stored. */
export interface StoreCalls {
  stop: AbortSignal;
  bar: ProgressBar;
  badRows: BadRows;
  print: (text: string) => void;
  /** Updated while records are stored. */
  progress: { stored: number };
}

/** Stores all records of an input in a database, which is created if it is missing. */
export async function storeRecords(
  input: Input,
  databases: Databases,
  options: ImportOptions,
  { stop, bar, badRows, print, progress }: StoreCalls,
): Promise<StoreResult> {
  const calls: UpsertCalls = {
    signal: stop,
    remote: options.url !== undefined,
    onBad(row, reason) {
      if (row !== BAD_ROW) badRows.add(row, reason);
    },
    onProgress(rows, stored) {
      progress.stored = stored;
      bar.update('imported', rows, input.total);
    },
    onRetry: (error, waitMs) => print(`${printable(describe(error))}; trying again in ${duration(waitMs)}`),
  };
  const rows = await startOf(input.records((row, reason) => badRows.add(row, reason)));
  if (rows === undefined && !options.deleteMissing) return NOTHING;
  const { database, isNew } = await new Attempts(calls).run(() =>
    ensureDatabase(databases, options, input, print),
  );
  const given = rows ?? none();
  const checked = isNew ? given : withCheckedKind(given, input, database, calls);
  const searched = await new Attempts(calls).run(() => searchedTextOf(database));
  const watched = searched?.watch(checked, print) ?? checked;
  const result = options.deleteMissing
    ? await replace(database, watched, options, { ...calls, badRows })
    : await upsertResumably(database, watched, calls);
  stop.throwIfAborted();
  const { created, changed, unchanged, earlier, deleted } = result;
  if (isNew && created + changed + unchanged + earlier === 0) await dropEmpty(database);
  else await reportTakenIds(input, database, badRows);
  return { created, changed, unchanged, earlier, deleted, searched };
}

/** Stands for the rows that were not sent: a line that is refused, so that nothing is deleted. */
const BAD_ROW: Row = {
  line: 0,
  json: Buffer.from('null\n'),
  maxBytes: 5,
  names: [],
  values: [],
  isOfColumns: false,
  raw: () => '',
};

async function replace(
  database: Database,
  rows: AsyncIterable<Row[]>,
  { maxDeletes }: ImportOptions,
  { badRows, ...calls }: UpsertCalls & { badRows: BadRows },
): Promise<UpsertResult> {
  async function* withBadRow() {
    yield* rows;
    if (badRows.count > 0) yield [BAD_ROW];
  }
  const upsertLines: Database['upsertLines'] = (chunks, options) =>
    database.replaceLines(chunks, { ...options, maxDeletes });
  try {
    return await upsertResumably({ upsertLines }, withBadRow(), { ...calls, isWhole: true });
  } catch (error) {
    if (!isCode(error, 'deletion_refused')) throw error;
    const detail =
      badRows.count > 0
        ? `nothing was deleted, because rows are bad; the others lack ${plural(error.fields.missing ?? 0, 'record')} of the database`
        : error.detail.replace('maxDeletes', '--max-deletes');
    throw new CosiftError(error.code, detail, { fields: error.fields, cause: error.cause });
  }
}

async function* none(): AsyncGenerator<Row[]> {}

const NOTHING: StoreResult = { created: 0, changed: 0, unchanged: 0, earlier: 0 };

/** Yields the rows. Fails before rows that the database has under another kind of identity, or that overwrite other records. */
export async function* withCheckedKind(
  batches: AsyncIterable<Row[]>,
  input: Input,
  database: Database,
  calls: AttemptCalls,
): AsyncGenerator<Row[]> {
  const otherKind = new OtherKind({
    get: (id) => database.get(id),
    optionFor: (column, type) => `--types ${column}=${type}`,
  });
  for await (const rows of batches) {
    await new Attempts(calls).run(() => otherKind.check(input.inferredIdentity()));
    yield rows;
  }
}

/** Waits for the first rows, and returns all rows; undefined when there are none. */
async function startOf(rows: AsyncGenerator<Row[]>): Promise<AsyncIterable<Row[]> | undefined> {
  const first = await rows.next();
  if (first.done) return undefined;
  async function* all() {
    try {
      yield first.value as Row[];
      yield* rows;
    } finally {
      await rows.return(undefined);
    }
  }
  return all();
}

/**
 * Opens a database, and creates it when it is missing. Settings that differ from those of the database are a failure,
 * except `flatten`: the rows are flat already. The formats of the columns of the input are added to those of the database. `isNew` is whether it was missing.
 */
async function ensureDatabase(
  databases: Databases,
  options: ImportOptions,
  input: Input,
  print: StoreCalls['print'],
): Promise<{ database: Database; isNew: boolean }> {
  const { database: id, flatten } = options;
  const settings = settingsOf(options);
  const database = databases.database(id);
  const hasSettings = Object.keys(settings).length > 0;
  for (let attempt = 1; ; attempt++) {
    const { existing, isMissing } = await described(database, hasSettings);
    const formats = addedFormats(input, existing?.formats);
    try {
      if (isMissing) {
        const all = { ...settings, ...(flatten && { flatten }), ...(formats && { formats }) };
        return { database: await databases.createDatabase(id, all), isNew: true };
      }
      // The name may be that of an alias.
      if (hasSettings) await databases.createDatabase(existing?.id ?? id, settings);
      const notices = existing === undefined ? [] : differences(input, existing);
      if (formats !== undefined && !(existing !== undefined && (await addFormats(database, formats)))) {
        const names = Object.keys(formats).map((name) => `"${name}"`);
        notices.push(
          `the key may not change settings of the database, so exports write the numbers of ${names.join(', ')} ` +
            'as JavaScript does',
        );
      }
      for (const notice of notices) print(printable(notice));
      return { database, isNew: false };
    } catch (error) {
      // Another import may have created the database meanwhile, with the formats of its file.
      const isOther = formats !== undefined && isCode(error, 'database_exists');
      if (!isOther || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

const MAX_ATTEMPTS = 5;

/** Describes a database; undefined where it is missing, or where an API key that may create it may not. */
async function described(
  database: Database,
  hasSettings: boolean,
): Promise<{ existing?: DatabaseDescription; isMissing: boolean }> {
  try {
    return { existing: await database.describe(), isMissing: false };
  } catch (error) {
    const isMissing = isCode(error, 'database_not_found');
    if (!isMissing && !(hasSettings && isCode(error, 'forbidden'))) throw error;
    return { isMissing };
  }
}

/** Adds formats to a database; false if the API key may not. */
async function addFormats(database: Database, formats: ValueFormats): Promise<boolean> {
  try {
    await database.configure({ formats });
    return true;
  } catch (error) {
    if (!isCode(error, 'forbidden')) throw error;
    return false;
  }
}

/** Returns a count of what the database does not search; undefined without a model, and where it is not known. */
async function searchedTextOf(database: Database): Promise<SearchedText | undefined> {
  try {
    const { id, model, embed } = await database.describe();
    if (model === null) return undefined;
    return new SearchedText({ id, columns: embed.columns, isEnglish: model === BUILT_IN_MODEL });
  } catch (error) {
    // The API key may not be allowed to describe databases.
    if (!isCode(error, 'forbidden')) throw error;
    return undefined;
  }
}

/** Drops a database that this import created and that has refused every record, so that its settings can be corrected. */
async function dropEmpty(database: Database): Promise<void> {
  try {
    if ((await database.describe()).records === 0) await database.drop();
  } catch (error) {
    // The API key may not be allowed to drop databases.
    if (!isCode(error, 'forbidden')) throw error;
  }
}

export function settingsOf({ embed, dimensions, ...options }: ImportOptions): DatabaseSettings {
  const lexical = lexicalIn<number>(options);
  const embedded = embedIn<NonNullable<DatabaseSettings['embed']>>(embed, options);
  return {
    ...(embedded !== undefined && { embed: embedded }),
    ...(dimensions !== undefined && { dimensions }),
    ...(lexical !== undefined && { lexical }),
  };
}
