import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { fingerprintOf as fingerprint } from '../../src/embedding/fingerprint.js';
import { createEmbedder, type Embedder, readModelDirectory } from '../../src/embedding/index.js';
import { HIDDEN, LOOKUP, type SmallModel, STATES, smallModel, statesOf } from '../helpers/small-model.js';

const root = mkdtempSync(join(tmpdir(), 'cosift-small-models-'));
afterAll(() => rmSync(root, { recursive: true }));

const TEXT = 'red green blue blue';

let count = 0;
const directoryOf = (model: SmallModel) => smallModel(join(root, `model-${count++}`), model);

async function withModel<T>(model: SmallModel, body: (embedder: Embedder) => Promise<T>): Promise<T> {
  const embedder = await createEmbedder({ model: directoryOf(model), workers: 1 });
  try {
    return await body(embedder);
  } finally {
    await embedder.close();
  }
}

const fingerprintOf = async (model: SmallModel) => fingerprint(await readModelDirectory(directoryOf(model)));

function expectClose(vector: Float32Array | Float64Array, expected: readonly number[]): void {
  const norm = Math.hypot(...expected);
  expect(vector).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(vector[i]).toBeCloseTo(value / norm, 6);
}

const pooling = (...modes: string[]) => ({
  word_embedding_dimension: HIDDEN,
  ...Object.fromEntries(modes.map((mode) => [`pooling_mode_${mode}`, true])),
});

/** What each mode makes of states, written for one value of a state at a time. */
const POOLED: Record<string, (states: number[][]) => number[]> = {
  cls_token: (states) => states[0]!,
  lasttoken: (states) => states.at(-1)!,
  max_tokens: (states) => columns(states).map((column) => Math.max(...column)),
  mean_tokens: (states) => columns(states).map((column) => sum(column) / column.length),
  mean_sqrt_len_tokens: (states) => columns(states).map((column) => sum(column) / Math.sqrt(column.length)),
  weightedmean_tokens: (states) =>
    columns(states).map(
      (column) => sum(column.map((value, i) => value * (i + 1))) / sum(column.map((_, i) => i + 1)),
    ),
};

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const columns = (states: number[][]) => states[0]!.map((_, i) => states.map((state) => state[i]!));

test.each(Object.keys(POOLED))('pooling: %s', (mode) =>
  withModel({ pooling: pooling(mode) }, async (embedder) => {
    expectClose(await embedder.embedQuery(TEXT), POOLED[mode]!(statesOf(TEXT)));
  }),
);

test('the vectors of several pooling modes are concatenated in one order', () =>
  withModel({ pooling: pooling('lasttoken', 'mean_tokens', 'cls_token') }, async (embedder) => {
    expect(embedder.dimensions).toBe(3 * HIDDEN);
    const parts = ['cls_token', 'mean_tokens', 'lasttoken'].map((mode) => POOLED[mode]!(statesOf(TEXT)));
    expectClose(await embedder.embedQuery(TEXT), parts.flat());
  }));

const WEIGHT = [0.5, -1, 0.25, 2, 1.5, 0.75, -0.5, 0.125, -2, 1, 0.5, 0.25];
const BIAS = [0.25, -0.5, 1];
const dense = (activation: string, { bias = true, inputs = HIDDEN, outputs = 3 } = {}) => ({
  config: {
    in_features: inputs,
    out_features: outputs,
    bias,
    activation_function: activation,
  },
  tensors: {
    'linear.weight': { shape: [outputs, inputs], values: WEIGHT.slice(0, inputs * outputs) },
    ...(bias && { 'linear.bias': { shape: [outputs], values: BIAS.slice(0, outputs) } }),
  },
});
const linear = (input: readonly number[], outputs = 3, bias = BIAS) =>
  Array.from(
    { length: outputs },
    (_, row) => sum(input.map((value, i) => value * WEIGHT[row * input.length + i]!)) + (bias[row] ?? 0),
  );
const unit = (vector: readonly number[]) => vector.map((value) => value / Math.hypot(...vector));

const mean = () => POOLED.mean_tokens!(statesOf(TEXT));

test.each([
  ['torch.nn.modules.linear.Identity', (value: number) => value],
  ['torch.nn.modules.activation.Tanh', Math.tanh],
  ['torch.nn.modules.activation.ReLU', (value: number) => Math.max(value, 0)],
  ['torch.nn.modules.activation.Sigmoid', (value: number) => 1 / (1 + Math.exp(-value))],
] as const)('a Dense layer: %s', (activation, apply) =>
  withModel({ modules: ['Dense', 'Normalize'], dense: [dense(activation)] }, async (embedder) => {
    expect(embedder.dimensions).toBe(3);
    expectClose(await embedder.embedQuery(TEXT), linear(mean()).map(apply));
  }),
);

test('layers are applied in their order, with the length that their input has', () =>
  withModel(
    {
      modules: ['Normalize', 'Dense', 'Dense'],
      dense: [
        dense('torch.nn.modules.activation.Tanh', { bias: false }),
        dense('torch.nn.modules.linear.Identity', { inputs: 3, outputs: 2 }),
      ],
    },
    async (embedder) => {
      const first = linear(unit(mean()), 3, []).map(Math.tanh);
      expectClose(await embedder.embedQuery(TEXT), linear(first, 2));
    },
  ));

test.each(['input_ids', 'attention_mask', 'token_type_ids', 'position_ids'])(
  'a graph gets the input that it has: %s',
  (input) => {
    // The states times 1 plus the input, which is a constant for all but the positions.
    const graph = {
      ...LOOKUP,
      inputs: [...new Set(['input_ids', input])],
      tensors: [...LOOKUP.tensors, { name: 'ones', shape: [1], values: [1] }],
      nodes: [
        { op: 'Gather', inputs: ['states', 'input_ids'], output: 'looked_up' },
        { op: 'Cast', inputs: [input], output: 'floats', attributes: { to: 1 } },
        { op: 'Add', inputs: ['floats', 'ones'], output: 'factors' },
        // [batch, sequence] is transposed to [sequence, 1], which is multiplied with [batch, sequence, hidden].
        { op: 'Transpose', inputs: ['factors'], output: 'column' },
        { op: 'Mul', inputs: ['looked_up', 'column'], output: 'last_hidden_state' },
      ],
    };
    const value = { attention_mask: () => 1, token_type_ids: () => 0, position_ids: (at: number) => at }[
      input
    ];
    return withModel({ graph }, async (embedder) => {
      const states = statesOf(TEXT);
      const ids = [2, 4, 5, 6, 6, 3];
      const scaled = states.map((state, at) => state.map((x) => x * (1 + (value?.(at) ?? ids[at]!))));
      expectClose(await embedder.embedQuery(TEXT), POOLED.mean_tokens!(scaled));
    });
  },
);

test('a unigram tokenizer, such as that of XLM-RoBERTa, is read', () => {
  // The only pieces: of `green`, the two parts have the larger sum of scores than the whole.
  const vocab: [string, number][] = [
    ['<s>', 0],
    ['<pad>', 0],
    ['</s>', 0],
    ['<unk>', 0],
    ['▁red', -1],
    ['▁gre', -2],
    ['en', -2],
    ['▁green', -5],
    ['▁', -3],
  ];
  const special = (content: string, id: number) => ({ id, content, special: true, normalized: false });
  const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', add_prefix_space: true };
  const tokenizer = {
    added_tokens: ['<s>', '<pad>', '</s>', '<unk>'].map(special),
    normalizer: { type: 'Precompiled', precompiled_charsmap: '' },
    pre_tokenizer: metaspace,
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '<s>', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '</s>', type_id: 0 } },
      ],
      pair: [],
      special_tokens: {
        '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] },
        '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] },
      },
    },
    decoder: metaspace,
    model: { type: 'Unigram', unk_id: 3, vocab },
  };
  const files = { 'tokenizer.json': tokenizer, 'tokenizer_config.json': { eos_token: '</s>' } };
  return withModel({ files }, async (embedder) => {
    // The full-width letters become others in normal form NFKC, and nothing has the letters of `blue`.
    const states = [0, 4, 5, 6, 8, 3, 2].map((id) => STATES[id]!);
    expectClose(await embedder.embedQuery('ｒｅｄ green blue'), POOLED.mean_tokens!(states));
  });
});

test('a text of 8,192 tokens is embedded whole, and no window is larger', async () => {
  const window = (max_seq_length: number) => ({ 'sentence_bert_config.json': { max_seq_length } });
  const { maxTokens } = await readModelDirectory(directoryOf({ files: window(32_768) }));
  expect(maxTokens).toBe(8_192);
  const text = Array.from({ length: 8_190 }, (_, i) => ['red', 'green', 'blue'][(i * i) % 3]).join(' ');
  await withModel({ files: window(8_192) }, async (embedder) => {
    expectClose((await embedder.embedPassages([text])).vectors, POOLED.mean_tokens!(statesOf(text)));
  });
});

test('the prompts of searches and records have the names that sentence-transformers gives them', async () => {
  const config = (content: object) => ({ files: { 'config_sentence_transformers.json': content } });
  const expectTexts = (content: object, query: string, record: string) =>
    withModel(config(content), async (embedder) => {
      expectClose(await embedder.embedQuery(TEXT), POOLED.mean_tokens!(statesOf(query + TEXT)));
      const { vectors } = await embedder.embedPassages([TEXT]);
      expectClose(vectors, POOLED.mean_tokens!(statesOf(record + TEXT)));
    });
  const query = 'query: ';
  await expectTexts({ prompts: { query, document: 'record: ', passage: 'blue ' } }, query, 'record: ');
  await expectTexts({ prompts: { query, passage: 'record: ' } }, query, 'record: ');
  await expectTexts({ prompts: { query, corpus: 'record: ' } }, query, 'record: ');
  await expectTexts({ prompts: { query }, default_prompt_name: null }, query, '');
  await expectTexts({ prompts: { red: 'red ', query }, default_prompt_name: 'red' }, query, 'red ');
});

test('whatever changes a vector changes the fingerprint', async () => {
  const layer = dense('torch.nn.modules.activation.Tanh');
  const withDense = { modules: ['Dense'], dense: [layer] };
  const otherWeights = structuredClone(layer);
  otherWeights.tensors['linear.weight'].values = WEIGHT.toReversed();
  const withoutBias = { ...layer, config: { ...layer.config, bias: false } };
  const prints = [
    await fingerprintOf({}),
    await fingerprintOf({ pooling: pooling('mean_sqrt_len_tokens') }),
    await fingerprintOf({ pooling: pooling('cls_token', 'mean_tokens') }),
    await fingerprintOf(withDense),
    await fingerprintOf({ ...withDense, modules: ['Normalize', 'Dense'] }),
    await fingerprintOf({ ...withDense, dense: [otherWeights] }),
    await fingerprintOf({ ...withDense, dense: [withoutBias] }),
    await fingerprintOf({ ...withDense, dense: [dense('torch.nn.modules.linear.Identity')] }),
    await fingerprintOf({ files: { 'tokenizer_config.json': { do_lowercase_and_remove_accent: true } } }),
  ];
  expect(new Set(prints)).toHaveLength(prints.length);
  expect(await withModel(withDense, async (embedder) => embedder.fingerprint)).toBe(prints[3]);
  // What changes no vector: a normalisation at the end, which every vector gets, and other options of the tokenizer.
  expect(await fingerprintOf({ modules: [] })).toBe(prints[0]);
  expect(await fingerprintOf({ ...withDense, modules: ['Dense', 'Normalize'] })).toBe(prints[3]);
  expect(await fingerprintOf({ files: { 'tokenizer_config.json': { model_max_length: 9 } } })).toBe(
    prints[0],
  );
});

test('so does a change in place, whatever the times of the file are', async () => {
  const directory = directoryOf({});
  const file = join(directory, 'tokenizer.json');
  const read = async () => fingerprint(await readModelDirectory(directory));
  const now = Date.now();
  // At once, and when the fingerprint has been kept.
  for (const [at, word] of [
    [now, 'blue'],
    [now + 3_600_000, 'glue'],
  ] as const) {
    vi.spyOn(Date, 'now').mockReturnValue(at);
    const before = await read();
    expect(await read()).toBe(before);
    const { atime, mtime } = statSync(file);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(word);
    writeFileSync(file, text.replaceAll(word, 'clue'));
    utimesSync(file, atime, mtime);
    expect(await read()).not.toBe(before);
    writeFileSync(file, text.replaceAll(word, 'glue'));
  }
});

test.each(['model.onnx_data', 'weights.bin'])('weights beside the graph count: %s', async (file) => {
  const external = (factor: number) => {
    const values = LOOKUP.tensors[0]!.values.map((value, at) => value + factor * at);
    return { graph: { ...LOOKUP, tensors: [{ ...LOOKUP.tensors[0]!, values, file }] } };
  };
  await withModel(external(0), async (embedder) => {
    expectClose(await embedder.embedQuery(TEXT), POOLED.mean_tokens!(statesOf(TEXT)));
  });
  expect(await fingerprintOf(external(1))).not.toBe(await fingerprintOf(external(0)));
});

const UNUSABLE: [name: string, model: SmallModel, why: RegExp][] = [
  ['a module', { modules: ['Normalize', 'LSTM'] }, /it has a module LSTM/],
  ['a pooling mode', { pooling: pooling('median_tokens') }, /its pooling has other modes/],
  [
    'excluded prompts',
    { pooling: { ...pooling('mean_tokens'), include_prompt: false } },
    /or excludes prompts/,
  ],
  [
    'an activation',
    { modules: ['Dense'], dense: [dense('torch.nn.modules.activation.PReLU')] },
    /1_Dense|2_Dense cannot be used: its activation function is torch\.nn\.modules\.activation\.PReLU/,
  ],
  [
    'weights in a pickle',
    { modules: ['Dense'], dense: [{ config: dense('Tanh').config }] },
    /2_Dense cannot be used: it has no model\.safetensors/,
  ],
  [
    'another input of Dense',
    {
      modules: ['Dense'],
      dense: [
        { ...dense('Tanh'), config: { ...dense('Tanh').config, module_input_name: 'token_embeddings' } },
      ],
    },
    /its module_input_name is token_embeddings/,
  ],
  [
    'sizes that do not fit',
    { modules: ['Dense'], dense: [dense('Tanh', { inputs: 3 })] },
    /2_Dense takes 3 values, but the module before it makes 4/,
  ],
  [
    'weights that do not fit',
    { modules: ['Dense'], dense: [{ ...dense('Tanh'), tensors: dense('Tanh', { outputs: 2 }).tensors }] },
    /does not have the weights that its config\.json declares/,
  ],
  [
    'a default prompt that is missing',
    { files: { 'config_sentence_transformers.json': { prompts: {}, default_prompt_name: 'query' } } },
    /it has no prompt query/,
  ],
  [
    'an input that no text fills',
    { graph: { ...LOOKUP, inputs: ['input_ids', 'past_key_values.0.key'] } },
    /inputs that no text fills: past_key_values\.0\.key/,
  ],
];

test.each(UNUSABLE)(
  'a directory that cannot be used is refused with the reason: %s',
  async (_, model, why) => {
    await expect(createEmbedder({ model: directoryOf(model), workers: 1 })).rejects.toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(why),
    });
  },
);

test('damaged weights are refused', async () => {
  const directory = directoryOf({ modules: ['Dense'], dense: [dense('Tanh')] });
  writeFileSync(join(directory, '2_Dense/model.safetensors'), 'text');
  await expect(createEmbedder({ model: directory, workers: 1 })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

test('a graph whose output does not fit the pooling is refused at the first text', () =>
  withModel(
    { pooling: { word_embedding_dimension: 8, pooling_mode_mean_tokens: true } },
    async (embedder) => {
      await expect(embedder.embedQuery(TEXT)).rejects.toThrow(
        /it must be float32 with 8 values for each token/,
      );
    },
  ));
