import { workerData } from 'node:worker_threads';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { move } from 'piscina';
import type { ModelDirectory } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { poolInto } from './pooling.js';
import { TextTokenizer } from './tokenizer.js';

/** Texts to embed, prompts included, or the end of this worker's model. */
export type Task = { kind: 'embed'; texts: readonly string[] } | { kind: 'release' };

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

const SESSION: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  executionMode: 'sequential',
  // One thread a session: the pool is the parallelism, and the order of sums cannot depend on it.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 3,
};

async function load(): Promise<Model> {
  const session = await calls.run(() => InferenceSession.create(directory.graph, SESSION));
  return { session, tokenizer: new TextTokenizer(directory) };
}

/** Vectors of a task's texts, one after the other; the buffer is moved to the caller, not copied. */
export default async function run(task: Task): Promise<unknown> {
  model ??= load();
  const { session, tokenizer } = await model;
  if (task.kind === 'release') {
    await calls.run(() => session.release());
    return undefined;
  }
  const { dimensions, pooling } = directory;
  const vectors = new Float32Array(task.texts.length * dimensions);
  for (const [index, text] of task.texts.entries()) {
    // One text a run: in a batch, quantised activations would let texts change each other's vectors.
    const inputs = feeds(session.inputNames, tokenizer.encode(text));
    const output = await calls.run(() => session.run(inputs));
    const name =
      ['last_hidden_state', 'token_embeddings'].find((known) => known in output) ?? session.outputNames[0]!;
    const start = index * dimensions;
    poolInto(vectors.subarray(start, start + dimensions), output[name]!.data as Float32Array, pooling);
  }
  return move(vectors);
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
