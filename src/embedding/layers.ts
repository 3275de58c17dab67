import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSafetensors } from './safetensors.js';

const ACTIVATIONS = {
  Identity: (value: number) => value,
  Tanh: Math.tanh,
  ReLU: (value: number) => Math.max(0, value),
  Sigmoid: (value: number) => 1 / (1 + Math.exp(-value)),
} as const;

/** A layer between pooling and the vector. Plain data, because it is sent to the workers. */
export type Layer = { kind: 'normalize' } | DenseLayer;

/** `activation(weight * input + bias)`. */
export interface DenseLayer {
  kind: 'dense';
  inputs: number;
  outputs: number;
  bias: boolean;
  activation: keyof typeof ACTIVATIONS;
  /** Absolute path of the safetensors file. */
  weights: string;
}

export type LayerFunction = (input: Float64Array) => Float64Array;

/** Reads the settings of a Dense module in `folder`. Throws an Error with the reason if it is not supported. */
export async function readDense(folder: string): Promise<DenseLayer> {
  const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
  const { in_features: inputs, out_features: outputs, bias = true } = config;
  const name = String(config.activation_function ?? 'torch.nn.modules.activation.Tanh');
  const activation = name.split('.').at(-1) as keyof typeof ACTIVATIONS;
  if (!Object.hasOwn(ACTIVATIONS, activation)) {
    throw new Error(
      `its activation function is ${name}; ${Object.keys(ACTIVATIONS).join(', ')} are supported`,
    );
  }
  for (const member of ['module_input_name', 'module_output_name']) {
    const value = config[member];
    if (value !== undefined && value !== null && value !== 'sentence_embedding') {
      throw new Error(`its ${member} is ${value}; only sentence_embedding is supported`);
    }
  }
  if (![inputs, outputs].every((size) => Number.isInteger(size) && size > 0)) {
    throw new Error('its config.json lacks in_features or out_features');
  }
  const weights = join(folder, 'model.safetensors');
  await access(weights).catch(() => {
    throw new Error(
      'it has no model.safetensors; saving the model with a current version of sentence-transformers writes it',
    );
  });
  return { kind: 'dense', inputs, outputs, bias: bias === true, activation, weights };
}

/** Loads a layer. Throws if the file of its weights does not fit its settings. */
export async function loadLayer(layer: Layer): Promise<LayerFunction> {
  if (layer.kind === 'normalize') return normalized;
  const { inputs, outputs, weights } = layer;
  const tensors = await readSafetensors(weights, ['linear.weight', 'linear.bias']);
  const weight = tensors.get('linear.weight');
  const bias = layer.bias ? tensors.get('linear.bias') : undefined;
  if (
    weight?.shape.join() !== `${outputs},${inputs}` ||
    (layer.bias && bias?.shape.join() !== `${outputs}`)
  ) {
    throw new Error(`${weights} does not have the weights that its config.json declares`);
  }
  const activate = ACTIVATIONS[layer.activation];
  // Sums are computed in float64 in one order, so that the result is the same to the bit on every machine.
  return (input) =>
    Float64Array.from({ length: outputs }, (_, output) => {
      let sum = 0;
      const start = output * inputs;
      for (let i = 0; i < inputs; i++) sum += weight.values[start + i]! * input[i]!;
      return activate(sum + (bias?.values[output] ?? 0));
    });
}

/** The vector with length 1; a vector of zeros stays as it is. */
export function normalized(vector: Float64Array): Float64Array {
  let square = 0;
  for (const value of vector) {
    square += value * value;
  }
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  return vector.map((value) => value * scale);
}
