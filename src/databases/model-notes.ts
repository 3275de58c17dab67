import { CosiftError } from '../errors.js';
import {
  BUILT_IN_MODEL,
  type DatabaseDescription,
  isPackagedModel,
  PACKAGED_MODELS,
} from '../schema/index.js';
import type { RecordStore, StoredDatabase } from '../store/record-store.js';
import { StaleError } from '../store/store-errors.js';
import { languageNotice, TextLanguage } from './text-language.js';

type Described = Omit<StoredDatabase, 'columns'>;
type Notes = Pick<DatabaseDescription, 'notice' | 'scores'>;

/** Records of a sample at most, and those that are read at a time, because they may be long. */
const MAX_RECORDS = 100;
const PAGE_RECORDS = 20;

/** What descriptions say of the model of a database, beside its name. */
export class ModelNotes {
  readonly #store: RecordStore;
  /** For each database, what its sample depended on, and whether most of its texts are not English. */
  readonly #languages = new Map<string, { state: string; isForeign: boolean }>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async of(database: Described): Promise<Notes> {
    const { id, model } = database;
    if (model === null || !isPackagedModel(model)) return {};
    const { scores } = PACKAGED_MODELS[model];
    const isForeign = model === BUILT_IN_MODEL && (await this.#isForeign(database));
    return { ...(isForeign && { notice: languageNotice(id) }), scores };
  }

  forget(id: string): void {
    this.#languages.delete(id);
  }

  /** Looks at the first records: again after each write while there are few, and later whenever their number has doubled. */
  async #isForeign(database: Described): Promise<boolean> {
    const { id, records, embed, times } = database;
    const size = records <= MAX_RECORDS ? times.last_write_at : Math.floor(Math.log2(records));
    const state = JSON.stringify([times.created_at, size, records === 0, embed.columns]);
    const known = this.#languages.get(id);
    if (known?.state === state) return known.isForeign;
    try {
      const isForeign = records > 0 && (await this.#sample(database)).isForeign;
      this.#languages.set(id, { state, isForeign });
      return isForeign;
    } catch (error) {
      // The database was changed or dropped after it was described. Its description needs no sample.
      if (error instanceof StaleError || error instanceof CosiftError) return false;
      throw error;
    }
  }

  async #sample({ id, embed, defaults }: Described): Promise<TextLanguage> {
    const language = new TextLanguage();
    let cursor: string | undefined;
    for (let read = 0; read < MAX_RECORDS && !language.isFull; read += PAGE_RECORDS) {
      const columns = embed.columns && [...embed.columns];
      const request = { form: 'both', limit: PAGE_RECORDS, cursor, columns, defaults } as const;
      const { body } = await this.#store.query(id, request);
      const page = JSON.parse(Buffer.from(body).toString());
      for (const { data } of page.results) for (const value of Object.values(data)) addValue(language, value);
      cursor = page.next_cursor ?? undefined;
      if (cursor === undefined) break;
    }
    return language;
  }
}

/** Adds the strings of a value: those that are embedded. */
function addValue(language: TextLanguage, value: unknown): void {
  for (const element of [value].flat()) if (typeof element === 'string') language.add(element);
}
