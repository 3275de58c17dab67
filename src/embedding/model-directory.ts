import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CosiftError } from '../errors.js';
import { type Pooling, poolingOf } from './pooling.js';

/** The settings of a model directory. Plain data, because it is sent to the workers. */
export interface ModelDirectory {
  path: string;
  name: string;
  /** Absolute path of the ONNX file. */
  graph: string;
  pooling: Pooling;
  dimensions: number;
  /** Maximum number of tokens of a text, including special ones. Further tokens are cut off. */
  maxTokens: number;
  /** Whether texts are lowercased before the tokenizer sees them. */
  lowerCase: boolean;
  /** The prefix of each text of a kind. */
  prompts: { query: string; passage: string };
}

// In order of preference: the original model before quantised copies.
const GRAPHS = ['onnx/model.onnx', 'onnx/model_quantized.onnx', 'model.onnx'];

/** Increased when this code makes different vectors from the same files. */
const VECTORS_VERSION = 1;

type Json = Record<string, unknown>;

/**
 * Reads a directory in sentence-transformers layout.
 *
 * Source: <https://sbert.net/docs/package_reference/sentence_transformer/models.html>
 * @throws {CosiftError} `invalid_request`, with the reason, when the model is not supported.
 */
export async function readModelDirectory(path: string): Promise<ModelDirectory> {
  const root = resolve(path);
  const modules = (await readJson(join(root, 'modules.json'))) as unknown as { type: string; path: string }[];
  const kinds = modules.map((module) => module.type.split('.').at(-1) ?? '');
  const poolingIndex = kinds.indexOf('Pooling');
  // Normalize may be absent, because vectors are always normalised: a score is a cosine.
  if (
    kinds[0] !== 'Transformer' ||
    poolingIndex !== 1 ||
    kinds.slice(2).some((kind) => kind !== 'Normalize')
  ) {
    throw unusable(
      root,
      `its modules are ${kinds.join(', ')}; Transformer, Pooling, Normalize are supported`,
    );
  }
  const transformer = join(root, modules[0]!.path);
  const poolingConfig = await readJson(join(root, modules[1]!.path, 'config.json'));
  const pooling = poolingOf(poolingConfig);
  const dimensions = poolingConfig.word_embedding_dimension ?? poolingConfig.embedding_dimension;
  if (pooling === undefined || typeof dimensions !== 'number') {
    throw unusable(
      root,
      'its pooling is none of mean, cls, max and lasttoken, alone and with prompts included',
    );
  }
  const sentence = await readJson(join(transformer, 'sentence_bert_config.json'), {});
  return {
    path: transformer,
    name: basename(root),
    graph: await findGraph(root, transformer),
    pooling,
    dimensions,
    maxTokens: await maxTokens(transformer, sentence),
    lowerCase: sentence.do_lower_case === true,
    prompts: promptsOf(await readJson(join(root, 'config_sentence_transformers.json'), {})),
  };
}

/** SHA-256, in hexadecimal, of everything that determines the vectors of a model. */
export async function fingerprintOf(directory: ModelDirectory): Promise<string> {
  const { pooling, maxTokens, lowerCase, prompts } = directory;
  const hash = createHash('sha256');
  hash.update(JSON.stringify({ version: VECTORS_VERSION, pooling, maxTokens, lowerCase, prompts }));
  const graphName = basename(directory.graph);
  const folder = dirname(directory.graph);
  // Large models store their weights next to the graph, as model.onnx_data or model.onnx.data.
  const parts = (await readdir(folder)).filter((name) => name.startsWith(graphName)).sort();
  const files = [...parts.map((name) => join(folder, name)), join(directory.path, 'tokenizer.json')];
  for (const file of files) {
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { end: false });
  }
  return hash.digest('hex');
}

async function findGraph(root: string, transformer: string): Promise<string> {
  if (!(await exists(join(transformer, 'tokenizer.json')))) {
    throw unusable(root, 'it has no tokenizer.json');
  }
  for (const graph of GRAPHS.map((name) => join(transformer, name))) {
    if (await exists(graph)) {
      return graph;
    }
  }
  throw unusable(root, `it has none of ${GRAPHS.join(', ')}`);
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function maxTokens(transformer: string, sentence: Json): Promise<number> {
  const own = sentence.max_seq_length;
  if (typeof own === 'number') {
    return own;
  }
  const positions = (await readJson(join(transformer, 'config.json'), {})).max_position_embeddings;
  const tokens = (await readJson(join(transformer, 'tokenizer_config.json'), {})).model_max_length;
  return Math.min(...[positions, tokens, 8192].filter((value) => typeof value === 'number'));
}

function promptsOf(config: Json): ModelDirectory['prompts'] {
  const prompts = (config.prompts ?? {}) as Record<string, string>;
  const usual = prompts[String(config.default_prompt_name)] ?? '';
  // `passage` is the older and still more common name of `document`.
  return { query: prompts.query ?? usual, passage: prompts.document ?? prompts.passage ?? usual };
}

/** The JSON of `file`; `absent`, if given, when the file does not exist. */
async function readJson(file: string, absent?: Json): Promise<Json> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    if (absent !== undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT') {
      return absent;
    }
    throw new CosiftError(
      'invalid_request',
      `the model file ${file} cannot be read: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}

function unusable(root: string, why: string): CosiftError {
  return new CosiftError('invalid_request', `the model directory ${root} cannot be used: ${why}`);
}
