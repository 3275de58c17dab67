import { workerData } from 'node:worker_threads';
import { env, InferenceSession, Tensor } from '@cosift/onnxruntime';
import type { PassageSettings, TextLine } from '../api/text-line.js';
import type { Embedded, TextKind } from './job.js';
import type { Split } from './join-passages.js';
import { type LayerFunction, loadLayer, normalized } from './layers.js';
import type { ModelDirectory } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { pool } from './pooling.js';
import { splitWith } from './split-text.js';
import { TextTokenizer } from './tokenizer.js';

/** Embeds texts, each with the prompt of its kind, or releases the model of this worker. */
export type Task =
  | {
      kind: TextKind;
      texts: readonly string[];
      /** The values of columns in each text. Default: each text is one value. */
      lines?: readonly (readonly TextLine[])[];
      /** Default: any number of those that the model has by default. */
      passages?: PassageSettings;
      /** Default: false. */
      onlySplits?: boolean;
    }
  | { kind: 'release' };

export interface WorkerData {
  directory: ModelDirectory;
  /** The shared cells of the pool's {@link NativeCalls}. */
  cells: Int32Array;
}

const { directory, cells } = workerData as WorkerData;
const calls = new NativeCalls(cells);
// Warnings of onnxruntime are about the machine and would be repeated at every start.
env.logLevel = 'error';

interface Model {
  session: InferenceSession;
  tokenizer: TextTokenizer;
  layers: readonly LayerFunction[];
}

// Loaded by the first task rather than with the module, so that a failure is the error of a task.
let model: Promise<Model> | undefined;

/** Milliseconds until a failed load may be retried. */
const RETRY_MS = 1_000;

/** When a failed load may be retried. It is not a timer, because timers do not run while a worker has no task. */
let retryAt = Number.POSITIVE_INFINITY;

const SESSION: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  executionMode: 'sequential',
  // One thread per session, so that the order of sums is fixed. The workers run in parallel.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
};

/** The model, which the first call loads. A failed load is retried after `RETRY_MS`. */
function loaded(): Promise<Model> {
  if (performance.now() > retryAt) model = undefined;
  if (model === undefined) {
    retryAt = Number.POSITIVE_INFINITY;
    model = load();
    model.catch(() => {
      retryAt = performance.now() + RETRY_MS;
    });
  }
  return model;
}

async function load(): Promise<Model> {
  const layers = await Promise.all(directory.layers.map(loadLayer));
  const session = await calls.run(() => InferenceSession.create(directory.graph, SESSION));
  const unknown = session.inputNames.filter((name) => !Object.hasOwn(INPUTS, name));
  if (unknown.length > 0) {
    throw new Error(`the model has inputs that no text fills: ${unknown.join(', ')}`);
  }
  try {
    return { session, tokenizer: new TextTokenizer(directory), layers };
  } catch (error) {
    throw new Error(`tokenizer.json cannot be used: ${(error as Error).message}`);
  }
}

/**
 * Embeds the texts of a task, and splits those that are too long. A record text of which the model knows nothing has a
 * vector of zeros.
 */
export default async function run(task: Task): Promise<Embedded | undefined> {
  if (task.kind === 'release') {
    const loadedModel = await model?.catch(() => undefined);
    if (loadedModel !== undefined) await calls.run(() => loadedModel.session.release());
    return undefined;
  }
  const { session, tokenizer, layers } = await loaded();
  const { dimensions, prompts } = directory;
  const vectors = new Float32Array(task.texts.length * dimensions);
  const splits: Split[] = [];
  let tokens = 0;
  for (const [index, text] of task.texts.entries()) {
    const prompted = prompts[task.kind] + text;
    const lines = task.lines?.[index] ?? [{ column: '', start: 0, end: text.length }];
    const ids = tokenizer.encode(prompted);
    const { passages = { perRecord: Number.POSITIVE_INFINITY } } = task;
    if (ids === undefined || ids.length > (passages.tokens ?? directory.maxTokens)) {
      const split = splitWith(tokenizer, directory, { kind: task.kind, text, lines, passages });
      splits.push({ text: index, ...split, ...(task.onlySplits && { passages: [] }) });
      continue;
    }
    if (task.onlySplits) continue;
    // The names of columns say nothing of the record.
    if (!lines.some(({ start, end }) => tokenizer.knows(text.slice(start, end)))) {
      if (task.kind === 'query') return { vectors, splits, refused: index };
      continue;
    }
    tokens += ids.length;
    // One text per run: in a batch, the quantisation of activations depends on all texts, and so would each vector.
    const inputs = feeds(session.inputNames, ids);
    const output = await calls.run(() => session.run(inputs));
    vectors.set(vectorOf(output, session.outputNames[0]!, layers), index * dimensions);
  }
  return { vectors, splits, tokens };
}

/** The unit vector of a text. */
function vectorOf(
  output: InferenceSession.OnnxValueMapType,
  first: string,
  layers: readonly LayerFunction[],
): Float32Array {
  const { hidden, pooling } = directory;
  const name = ['last_hidden_state', 'token_embeddings'].find((known) => known in output) ?? first;
  const { type, dims, data } = output[name]!;
  if (type !== 'float32' || dims.length !== 3 || dims[2] !== hidden) {
    throw new Error(
      `the output ${name} of the model is ${type}[${dims}]; it must be float32 with ${hidden} values for each token`,
    );
  }
  const pooled = pool(data as Float32Array, hidden, pooling, layers.length > 0);
  return Float32Array.from(normalized(layers.reduce((vector, layer) => layer(vector), pooled)));
}

const INPUTS: Readonly<Record<string, (ids: readonly number[]) => BigInt64Array>> = {
  input_ids: (ids) => BigInt64Array.from(ids, BigInt),
  attention_mask: (ids) => new BigInt64Array(ids.length).fill(1n),
  token_type_ids: (ids) => new BigInt64Array(ids.length),
  position_ids: (ids) => BigInt64Array.from(ids.keys(), BigInt),
};

function feeds(names: readonly string[], ids: readonly number[]): Record<string, Tensor> {
  const shape = [1, ids.length];
  return Object.fromEntries(names.map((name) => [name, new Tensor('int64', INPUTS[name]!(ids), shape)]));
}
