import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CosiftError } from '../errors.js';
import { type Layer, readDense } from './layers.js';
import { POOLING_MODES, type PoolingMode, poolingOf } from './pooling.js';

/** The settings of a model directory. Plain data, because it is sent to the workers. */
export interface ModelDirectory {
  path: string;
  name: string;
  /** Absolute path of the ONNX file. */
  graph: string;
  /** Number of values of the state of a token. */
  hidden: number;
  /** The vectors of several modes are concatenated. */
  pooling: readonly PoolingMode[];
  /** What comes after the pooling, except the normalisation at the end, which every vector gets. */
  layers: readonly Layer[];
  dimensions: number;
  /** Maximum number of tokens of a text, including special ones: the window of the model. */
  maxTokens: number;
  /** Whether texts are lowercased before the tokenizer sees them. */
  lowerCase: boolean;
  /** The prefix of each text of a kind. */
  prompts: { query: string; passage: string };
  /** The options in `tokenizer_config.json` that change tokens and are on. */
  tokenizer: readonly string[];
}

interface Module {
  type: string;
  path: string;
}

// In order of preference: the original model before quantised copies.
const GRAPHS = ['onnx/model.onnx', 'onnx/model_quantized.onnx', 'model.onnx'];

/** Maximum of any model, because the memory of an inference grows with the square of the number of tokens. */
const MAX_TOKENS = 8_192;
/** Minimum of any model: the special tokens and a few pieces of a word. */
const MIN_TOKENS = 5;

type Json = Record<string, unknown>;

/**
 * Reads a directory in sentence-transformers layout.
 *
 * Source: <https://sbert.net/docs/package_reference/sentence_transformer/models.html>
 * @throws {CosiftError} `invalid_request`, with the reason, when the model is not supported.
 */
export async function readModelDirectory(path: string): Promise<ModelDirectory> {
  const root = resolve(path);
  const modules: unknown = await readJson(join(root, 'modules.json'));
  if (!isModules(modules)) throw unusable(root, 'modules.json is no list of modules with type and path');
  const [transformerModule, poolingModule, ...others] = modules.map(({ type, path }) => ({
    kind: type.split('.').at(-1) ?? '',
    path,
  }));
  if (transformerModule?.kind !== 'Transformer' || poolingModule?.kind !== 'Pooling') {
    const kinds = modules.map(({ type }) => type.split('.').at(-1)).join(', ');
    throw unusable(root, `its modules are ${kinds}; the first two must be Transformer and Pooling`);
  }
  const transformer = join(root, transformerModule.path);
  const poolingConfig = await readJson(join(root, poolingModule.path, 'config.json'));
  const pooling = poolingOf(poolingConfig);
  const hidden = poolingConfig.word_embedding_dimension ?? poolingConfig.embedding_dimension;
  if (pooling === undefined || typeof hidden !== 'number') {
    throw unusable(root, `its pooling has other modes than ${POOLING_MODES}, or excludes prompts`);
  }
  const layers = await layersOf(root, others, hidden * pooling.length);
  const sentence = await readJson(join(transformer, 'sentence_bert_config.json'), {});
  const window = await maxTokens(transformer, sentence);
  if (!Number.isSafeInteger(window) || window < MIN_TOKENS) {
    throw unusable(root, `its texts have at most ${window} tokens; at least ${MIN_TOKENS} are needed`);
  }
  return {
    path: transformer,
    name: basename(root),
    graph: await findGraph(root, transformer),
    hidden,
    pooling,
    layers,
    dimensions: layers.findLast((layer) => layer.kind === 'dense')?.outputs ?? hidden * pooling.length,
    maxTokens: window,
    lowerCase: sentence.do_lower_case === true,
    tokenizer: tokenizerOptions(await readJson(join(transformer, 'tokenizer_config.json'))),
    prompts: promptsOf(root, await readJson(join(root, 'config_sentence_transformers.json'), {})),
  };
}

/** Reads the modules after the pooling, whose output has `size` values. */
async function layersOf(
  root: string,
  modules: readonly { kind: string; path: string }[],
  size: number,
): Promise<Layer[]> {
  const layers: Layer[] = [];
  let inputs = size;
  for (const { kind, path } of modules) {
    if (kind === 'Normalize') {
      layers.push({ kind: 'normalize' });
    } else if (kind === 'Dense') {
      const dense = await readDense(join(root, path)).catch((cause: Error) => {
        throw unusable(root, `${path} cannot be used: ${cause.message}`);
      });
      if (dense.inputs !== inputs) {
        throw unusable(
          root,
          `${path} takes ${dense.inputs} values, but the module before it makes ${inputs}`,
        );
      }
      inputs = dense.outputs;
      layers.push(dense);
    } else {
      throw unusable(
        root,
        `it has a module ${kind}; Transformer, Pooling, Dense and Normalize are supported`,
      );
    }
  }
  // Every vector is normalised at the end, because a score is a cosine.
  return layers.slice(0, layers.findLastIndex((layer) => layer.kind === 'dense') + 1);
}

async function findGraph(root: string, transformer: string): Promise<string> {
  if (!existsSync(join(transformer, 'tokenizer.json'))) {
    throw unusable(root, 'it has no tokenizer.json');
  }
  for (const graph of GRAPHS.map((name) => join(transformer, name))) {
    if (existsSync(graph)) {
      return graph;
    }
  }
  throw unusable(root, `it has none of ${GRAPHS.join(', ')}`);
}

async function maxTokens(transformer: string, sentence: Json): Promise<number> {
  const own = sentence.max_seq_length;
  if (typeof own === 'number') return Math.min(own, MAX_TOKENS);
  const positions = (await readJson(join(transformer, 'config.json'), {})).max_position_embeddings;
  const tokens = (await readJson(join(transformer, 'tokenizer_config.json'), {})).model_max_length;
  return Math.min(...[positions, tokens, MAX_TOKENS].filter((value) => typeof value === 'number'));
}

function promptsOf(root: string, config: Json): ModelDirectory['prompts'] {
  const prompts = (config.prompts ?? {}) as Record<string, unknown>;
  const { default_prompt_name: usual = null } = config;
  const prompt = (...names: unknown[]) => {
    const name = names.find((name) => typeof prompts[String(name)] === 'string');
    return name === undefined ? '' : (prompts[String(name)] as string);
  };
  if (usual !== null && typeof prompts[String(usual)] !== 'string') {
    throw unusable(root, `it has no prompt ${usual}, which its default_prompt_name names`);
  }
  // The names that `encode_query` and `encode_document` of sentence-transformers try, in their order.
  return { query: prompt('query', usual), passage: prompt('document', 'passage', 'corpus', usual) };
}

function tokenizerOptions(config: Json): string[] {
  return ['remove_space', 'do_lowercase_and_remove_accent'].filter((name) => config[name] === true);
}

function isModules(value: unknown): value is Module[] {
  const isModule = (module: Partial<Module> | null) =>
    typeof module?.type === 'string' && typeof module.path === 'string';
  return Array.isArray(value) && value.every(isModule);
}

/** The JSON of `file`; `absent`, if given, when the file does not exist. */
async function readJson(file: string, absent?: Json): Promise<Json> {
  try {
    const json: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof json !== 'object' || json === null) throw new TypeError('it is no JSON object or list');
    return json as Json;
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (absent !== undefined && isAbsent) return absent;
    const detail = isAbsent
      ? `there is no model file ${file}: a model has a directory in sentence-transformers layout`
      : `the model file ${file} cannot be read: ${(cause as Error).message}`;
    throw new CosiftError('invalid_request', detail, { cause });
  }
}

function unusable(root: string, why: string): CosiftError {
  return new CosiftError('invalid_request', `the model directory ${root} cannot be used: ${why}`);
}
