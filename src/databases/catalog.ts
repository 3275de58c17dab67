import { FairLimiter } from '../async/fair-limiter.js';
import { CosiftError, type Problem } from '../errors.js';
import {
  BUILT_IN_MODEL,
  type DatabaseChanges,
  type DatabaseDescription,
  type DatabaseSettings,
} from '../schema/index.js';
import type { StoredDatabase, StoreSettings } from '../store/record-store.js';
import type { ReembeddingSettings } from '../store/reembedding-store.js';
import { checkSameSettings, settingsIn } from '../store/settings.js';
import { refuseNamed } from '../store/store-errors.js';
import type { ChangeFeed } from './change-feed.js';
import type { Dependencies } from './dependencies.js';
import { ModelNotes } from './model-notes.js';
import type { Reembeddings } from './reembeddings.js';
import { changedSettings, checkPassages, checkSettings, normalEmbed } from './settings-changes.js';

export interface DescribeOptions {
  /** The path of the caller's key. Keys take turns where descriptions wait. */
  caller?: string;
}

/** Creates, configures, describes and drops databases. */
export class DatabaseCatalog {
  readonly #dependencies: Dependencies;
  readonly #reembeddings: Reembeddings;
  readonly #feed: ChangeFeed;
  readonly #notes: ModelNotes;
  /** A description of many columns takes so long that other calls must run between two descriptions. */
  readonly #descriptions = new FairLimiter({ total: 1, perCaller: 1 });

  constructor(dependencies: Dependencies, reembeddings: Reembeddings, feed: ChangeFeed) {
    this.#dependencies = dependencies;
    this.#reembeddings = reembeddings;
    this.#feed = feed;
    this.#notes = new ModelNotes(dependencies.store);
  }

  async list({ caller = '' }: DescribeOptions = {}): Promise<DatabaseDescription[]> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    const databases = await this.#descriptions.run(caller, () => store.listDatabases());
    const described: DatabaseDescription[] = [];
    for (const database of databases) described.push(await this.#describe(database));
    return described;
  }

  /**
   * Creates a database. A database that exists with the same settings is returned as it is.
   *
   * @throws {CosiftError} `database_exists` when it exists with other settings.
   */
  async create(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }> {
    const { store, models, infos, limits, calls } = this.#dependencies;
    using _call = calls.begin();
    const ownVectors = settings.model === undefined && settings.dimensions !== undefined;
    const model = ownVectors ? null : (settings.model ?? BUILT_IN_MODEL);
    const embedder = model === null ? undefined : await models.embedder(model);
    const dimensions = embedder?.dimensions ?? settings.dimensions ?? 0;
    if (settings.dimensions !== undefined && settings.dimensions !== dimensions) {
      const detail = `model "${model}" makes vectors of ${dimensions} values`;
      const problems: Problem[] = [{ pointer: '/dimensions', code: 'invalid_value', detail }];
      throw new CosiftError('invalid_request', detail, { problems });
    }
    const embed = settings.embed && normalEmbed(settings.embed);
    if (embed !== undefined) checkPassages(embed, model, embedder?.window);
    const wanted = {
      ...settings,
      ...(embed && { embed }),
      model,
      fingerprint: embedder?.fingerprint ?? null,
      dimensions,
    };
    try {
      checkSettings(wanted, limits);
    } catch (error) {
      // A database that exists may have what the settings leave out.
      const existing = await store.describeDatabase(id).catch(() => undefined);
      if (existing === undefined) throw error;
      checkSameSettings(existing, wanted);
      return { created: false, database: await this.#describe(existing) };
    }
    const { created, database } = await store.createDatabase(id, wanted);
    if (!created) checkSameSettings(database, wanted);
    infos.set(database.id, database);
    return { created, database: await this.#describe(database) };
  }

  /**
   * Changes settings of a database. Those that vectors depend on change in the background: a re-embedding begins.
   *
   * @throws {CosiftError} `invalid_request` for settings that do not fit each other; `reembedding_running` while another
   * re-embedding runs.
   */
  async configure(id: string, changes: DatabaseChanges): Promise<DatabaseDescription> {
    const { store, infos, limits, calls } = this.#dependencies;
    using _call = calls.begin();
    const { embed, model, ...others } = changes;
    const change = (current: StoreSettings) => {
      const settings = changedSettings(current, others);
      checkSettings(settings, limits, current);
      return settings;
    };
    const target = embed === undefined && model === undefined ? undefined : await this.#target(id, changes);
    // First what can be refused, so that a change that is refused changes nothing.
    const database = await store.changeSettings(id, change);
    infos.set(id, database);
    if (target !== undefined) await this.#reembeddings.start(id, target.model, target.embed);
    return await this.#describe(database);
  }

  /** What the records of a database are embedded with after changes of its settings. */
  async #target(id: string, changes: DatabaseChanges): Promise<Pick<ReembeddingSettings, 'embed' | 'model'>> {
    const { store, models } = this.#dependencies;
    const { model, embed = {} } = changedSettings(settingsIn(await store.describeDatabase(id)), changes);
    if (model === null) {
      const detail = 'the database has no model, so its columns are not embedded';
      const problems: Problem[] = [{ pointer: '/embed', code: 'invalid_value', detail }];
      throw new CosiftError('invalid_request', `/embed: ${detail}`, { problems });
    }
    const target = { model, embed: normalEmbed(embed) };
    checkPassages(target.embed, model, (await models.embedder(model)).window);
    await this.#reembeddings.check(id, target);
    return target;
  }

  /** @throws {CosiftError} `database_not_found`, `not_ready` */
  async check(id: string): Promise<void> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    // The cheapest call that fails for a database that does not exist.
    await store.nextId(id);
  }

  async describe(id: string, options?: DescribeOptions): Promise<DatabaseDescription> {
    const { store } = this.#dependencies;
    return await this.#describe(await this.#inTurn(id, options, () => store.describeDatabase(id)));
  }

  /** Like {@link describe}, but resolves with the JSON of a `DatabaseDescription`. */
  async describeJson(id: string, options?: DescribeOptions): Promise<Uint8Array> {
    const { store } = this.#dependencies;
    // A description with a re-embedding is not the one of the store.
    if (this.#reembeddings.unfinished(id, 0) !== undefined) {
      return Buffer.from(JSON.stringify(await this.describe(id, options)));
    }
    const json = await this.#inTurn(id, options, () => store.databaseJson(id));
    const notes = await this.#notes.of(withoutColumns(json));
    const members = JSON.stringify(notes).slice(1);
    return members === '}' ? json : Buffer.concat([json.subarray(0, -1), Buffer.from(`,${members}`)]);
  }

  /**
   * Loads the models of all databases, so that no search has to wait for a model. Returns the models that cannot be
   * loaded; only requests that need one of them fail.
   */
  async loadModels(): Promise<{ model: string; error: unknown }[]> {
    const { models, infos } = this.#dependencies;
    const failed = [];
    for (const model of infos.models()) {
      try {
        await models.embedder(model);
      } catch (error) {
        failed.push({ model, error });
      }
    }
    return failed;
  }

  async drop(id: string): Promise<void> {
    const { store, infos, barriers, calls } = this.#dependencies;
    using _call = calls.begin();
    // The store checks that, too, but the removal stops a re-embedding before.
    refuseNamed(id, await store.aliases());
    await this.#reembeddings.drop(id, () => store.dropDatabase(id));
    infos.delete(id);
    this.#notes.forget(id);
    barriers.delete(id);
    // Readers that wait for changes learn at once that the database is gone.
    this.#feed.notify(id);
  }

  async #inTurn<T>(id: string, { caller = '' }: DescribeOptions = {}, call: () => Promise<T>): Promise<T> {
    const { calls, turns } = this.#dependencies;
    using _call = calls.begin();
    return await (turns.of(id) ?? this.#descriptions).run(caller, call);
  }

  async #describe(database: StoredDatabase): Promise<DatabaseDescription> {
    const reembedding = this.#reembeddings.unfinished(database.id, database.records);
    const notes = await this.#notes.of(database);
    return { ...database, ...(reembedding && { reembedding }), ...notes };
  }
}

/** Parses a description without its columns, which come last and may be thousands. */
function withoutColumns(json: Uint8Array): Omit<StoredDatabase, 'columns'> {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  // The only list named columns whose items are objects. A string cannot contain it, because its quotation marks are escaped.
  // It is searched for from the start, because the list may be long. An empty one is at the end.
  const found = text.indexOf(',"columns":[{');
  return JSON.parse(`${text.toString('utf8', 0, found === -1 ? text.lastIndexOf(',"columns":[') : found)}}`);
}
