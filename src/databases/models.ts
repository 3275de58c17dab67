import { statSync } from 'node:fs';
import path from 'node:path';
import { isEndpoint, parseEndpoint } from '../config/index.js';
import {
  createEmbedder,
  type Embedder,
  type EmbedderStats,
  installedModels,
  type ModelSource,
  packagedModel,
} from '../embedding/index.js';
import { CosiftError, isCode, type Problem } from '../errors.js';
import { BUILT_IN_MODEL, didYouMean, isPackagedModel, PACKAGED_MODELS, shown } from '../schema/index.js';

/** Where models that are no packages come from, by model name. */
export type ModelSources = Readonly<Record<string, ModelSource>>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isModelName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Checks that the directories of models exist, and the URLs of endpoints. A server does not call it: it starts without
 * missing directories, and only requests that need a missing model fail.
 *
 * @throws {CosiftError} `invalid_request` for a missing directory and for a URL that is not valid.
 */
export function checkModelSources(sources: ModelSources = {}): void {
  for (const [name, source] of Object.entries(sources)) {
    if (typeof source !== 'string') continue;
    if (isEndpoint(source)) checkEndpoint(name, source);
    else if (!isDirectory(source)) {
      throw new CosiftError('invalid_request', `model "${name}": there is no directory "${source}"`);
    }
  }
}

function checkEndpoint(name: string, source: string): void {
  try {
    parseEndpoint(source);
  } catch (cause) {
    throw new CosiftError('invalid_request', `model "${name}": the URL ${(cause as Error).message}`, {
      cause,
    });
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A model is loaded later, when the program may have another working directory. */
function resolved(source: ModelSource): ModelSource {
  return typeof source !== 'string' || isEndpoint(source) ? source : path.resolve(source);
}

/** Milliseconds between a failed load and the next attempt, because each attempt reads the complete model. */
const RETRY_MS = 1_000;

/** The models that databases can have. Each model is loaded once, when it is needed for the first time. */
export class Models {
  readonly #workers: number | undefined;
  /** The source of each model by its name; undefined for that of a package. */
  readonly #sources: ReadonlyMap<string, ModelSource | undefined>;
  readonly #loading = new Map<string, Promise<Embedder>>();
  readonly #loaded = new Map<string, Embedder>();
  readonly #failed = new Map<string, { error: unknown; until: number }>();
  #closed = false;

  /**
   * `workers` is the number of threads that embed, for each loaded model.
   *
   * @throws {CosiftError} `invalid_request` for a name that is not allowed.
   */
  constructor(sources: ModelSources = {}, workers?: number) {
    for (const name of Object.keys(sources)) {
      if (name === BUILT_IN_MODEL) {
        throw new CosiftError('invalid_request', `"${name}" is the built-in model: choose another name`);
      }
      if (!isModelName(name)) {
        const rule = 'a model has a name of 1 to 64 letters, digits, . _ and -';
        throw new CosiftError('invalid_request', `${rule}, not "${name}"`);
      }
    }
    this.#sources = new Map<string, ModelSource | undefined>([
      ...Object.keys(PACKAGED_MODELS).map((name) => [name, undefined] as const),
      ...Object.entries(sources).map(([name, source]) => [name, resolved(source)] as const),
    ]);
    this.#workers = workers;
  }

  has(model: string): boolean {
    return this.#sources.has(model);
  }

  /**
   * Checks that a model is among those that a caller may use.
   *
   * @throws {CosiftError} `invalid_request` when it is not, as for an unknown model.
   */
  checkUsable(model: string, usable: ReadonlySet<string>): void {
    if (!this.has(model) || !usable.has(model)) throw this.#unknown(model, usable);
  }

  /**
   * Returns the embedder of a model. When the load fails, the first call after a second tries again.
   *
   * @throws {CosiftError} `invalid_request` when there is no such model, or its directory holds no model;
   * `model_unavailable` when its endpoint does not embed a text.
   */
  async embedder(model: string): Promise<Embedder> {
    if (!this.has(model)) throw this.#unknown(model);
    if (this.#closed) throw new CosiftError('stopped', 'the models are closed');
    const failure = this.#failed.get(model);
    if (failure !== undefined && performance.now() < failure.until) throw failure.error;
    const loading = this.#loading.get(model) ?? this.#load(model);
    this.#loading.set(model, loading);
    return loading;
  }

  /**
   * Like {@link embedder}, for a request that is valid: no detail names a directory, which callers of a service must not
   * see. `of` is what has the model, such as ` of database "db"`.
   *
   * @throws {CosiftError} `not_ready` when the model cannot be loaded.
   */
  async ready(model: string, of = ''): Promise<Embedder> {
    if (!this.has(model)) throw this.#unknown(model);
    return this.embedder(model).catch((cause: unknown) => {
      const detail = `model "${model}"${of} cannot be loaded; \`cosift model verify ${model}\` says why`;
      throw isCode(cause, 'invalid_request') ? new CosiftError('not_ready', detail, { cause }) : cause;
    });
  }

  loaded(model: string): Embedder | undefined {
    return this.#closed ? undefined : this.#loaded.get(model);
  }

  /** Returns the sums over all loaded models; undefined while no model is loaded. */
  stats(): EmbedderStats | undefined {
    const all = [...this.#loaded.values()].map((embedder) => embedder.stats());
    const [first, ...rest] = all;
    if (first === undefined) return undefined;
    return rest.reduce(
      (sum, stats) => ({
        queued: sum.queued + stats.queued,
        running: sum.running + stats.running,
        cacheHits: sum.cacheHits + stats.cacheHits,
        cacheMisses: sum.cacheMisses + stats.cacheMisses,
        inferences: sum.inferences + stats.inferences,
        totalMs: sum.totalMs + stats.totalMs,
      }),
      first,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const loaded = await Promise.allSettled(this.#loading.values());
    await Promise.all(
      loaded.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.close() : undefined)),
    );
  }

  async #load(model: string): Promise<Embedder> {
    try {
      const source = this.#sources.get(model) ?? (isPackagedModel(model) ? packagedModel(model) : undefined);
      const embedder = await createEmbedder({ model: source, name: model, workers: this.#workers });
      this.#loaded.set(model, embedder);
      return embedder;
    } catch (cause) {
      const error =
        cause instanceof CosiftError
          ? new CosiftError(cause.code, `model "${model}" cannot be used: ${cause.detail}`, { cause })
          : cause;
      this.#loading.delete(model);
      this.#failed.set(model, { error, until: performance.now() + RETRY_MS });
      throw error;
    }
  }

  /** The error for an unknown model. It names only models that the caller may use. */
  #unknown(model: string, usable?: ReadonlySet<string>): CosiftError {
    const installed = installedModels();
    const names = [...this.#sources]
      .flatMap(([name, source]) => (source !== undefined || name in installed ? name : []))
      .filter((name) => usable?.has(name) ?? true);
    const available = names.map((name) => `"${name}"`).join(', ') || 'no model';
    const whose = usable === undefined ? 'this service has' : 'the key may use';
    const detail = `there is no model ${shown(model)}; ${whose} ${available}${didYouMean(model, names)}`;
    const problems: Problem[] = [{ pointer: '/model', code: 'invalid_value', detail }];
    return new CosiftError('invalid_request', detail, { problems });
  }
}
