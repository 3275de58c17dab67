import { workerData } from 'node:worker_threads';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import type { Embedded, Kind } from './job.js';
import type { ModelDirectory } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { poolInto } from './pooling.js';
import { TextTokenizer } from './tokenizer.js';

/** Texts to embed, each after the prompt of their kind, or the end of this worker's model. */
export type Task = { kind: Kind; texts: readonly string[] } | { kind: 'release' };

/** What a worker is started with. */
export interface WorkerData {
  directory: ModelDirectory;
  /** Of the pool's {@link NativeCalls}. */
  cells: Int32Array;
}

const { directory, cells } = workerData as WorkerData;
const calls = new NativeCalls(cells);
// Warnings are about the machine, and come again with every start.
env.logLevel = 'error';

interface Model {
  session: InferenceSession;
  tokenizer: TextTokenizer;
}

// Loaded by the first task and not with the module, so that a failure has somebody to go to.
let model: Promise<Model> | undefined;

/** How long a failed load is not tried again, in milliseconds. */
const RETRY_MS = 1_000;

/** When a failed load is tried again. A timer would not do: a worker without a task runs none. */
let retryAt = Number.POSITIVE_INFINITY;

const SESSION: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  executionMode: 'sequential',
  // One thread a session: the pool is the parallelism, and the order of sums cannot depend on it.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
};

/** The model, loaded by the first call. A load that failed is tried again, but not at once. */
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
  const session = await calls.run(() => InferenceSession.create(directory.graph, SESSION));
  return { session, tokenizer: new TextTokenizer(directory) };
}

/** Vectors of a task's texts. That of a record's text without a token is all 0: the text has no meaning. */
export default async function run(task: Task): Promise<Embedded | undefined> {
  if (task.kind === 'release') {
    const left = await model?.catch(() => undefined);
    if (left !== undefined) await calls.run(() => left.session.release());
    return undefined;
  }
  const { session, tokenizer } = await loaded();
  const { dimensions, pooling, prompts } = directory;
  const vectors = new Float32Array(task.texts.length * dimensions);
  let truncated = 0;
  for (const [index, text] of task.texts.entries()) {
    if (task.kind === 'passage' && !tokenizer.hasTokens(text)) continue;
    const encoded = tokenizer.encode(prompts[task.kind] + text);
    if (encoded.truncated) truncated += 1;
    // One text a run: in a batch, quantised activations would let texts change each other's vectors.
    const inputs = feeds(session.inputNames, encoded.ids);
    const output = await calls.run(() => session.run(inputs));
    const name =
      ['last_hidden_state', 'token_embeddings'].find((known) => known in output) ?? session.outputNames[0]!;
    const start = index * dimensions;
    poolInto(vectors.subarray(start, start + dimensions), output[name]!.data as Float32Array, pooling);
  }
  return { vectors, truncated };
}

function feeds(names: readonly string[], ids: readonly number[]): Record<string, Tensor> {
  const shape = [1, ids.length];
  const inputs: Record<string, () => BigInt64Array> = {
    input_ids: () => BigInt64Array.from(ids, BigInt),
    attention_mask: () => new BigInt64Array(ids.length).fill(1n),
    token_type_ids: () => new BigInt64Array(ids.length),
    position_ids: () => BigInt64Array.from(ids.keys(), BigInt),
  };
  return Object.fromEntries(
    names.map((name) => {
      const make = inputs[name];
      if (make === undefined) {
        throw new Error(`the model has an input that no text fills: ${name}`);
      }
      return [name, new Tensor('int64', make(), shape)];
    }),
  );
}
