/** How the hidden states of the tokens of a text are combined into its vector. */
export type Pooling = 'mean' | 'cls' | 'max' | 'lasttoken';

const MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  // The mean times the square root of the length. It has the direction of the mean, and vectors are normalised.
  pooling_mode_mean_sqrt_len_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'lasttoken',
};

/** The mode of a pooling configuration; undefined for an unsupported mode and for a combination of modes. */
export function poolingOf(config: Readonly<Record<string, unknown>>): Pooling | undefined {
  const flags = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  return flags.length === 1 && config.include_prompt !== false ? MODES[flags[0]!] : undefined;
}

/**
 * Writes the unit vector of one text to `out`.
 *
 * `states` holds the last hidden states of all tokens, `out.length` values each. Sums are computed in float64 in the
 * order of the tokens, so that the result is the same to the bit on every machine.
 */
export function poolInto(out: Float32Array, states: Float32Array, pooling: Pooling): void {
  const dimensions = out.length;
  const pooled = new Float64Array(dimensions);
  const end = states.length;
  if (pooling === 'mean') {
    for (let start = 0; start < end; start += dimensions) {
      for (let i = 0; i < dimensions; i++) {
        pooled[i]! += states[start + i]!;
      }
    }
  } else if (pooling === 'max') {
    pooled.set(states.subarray(0, dimensions));
    for (let start = dimensions; start < end; start += dimensions) {
      for (let i = 0; i < dimensions; i++) {
        pooled[i] = Math.max(pooled[i]!, states[start + i]!);
      }
    }
  } else {
    const start = pooling === 'cls' ? 0 : end - dimensions;
    pooled.set(states.subarray(start, start + dimensions));
  }
  let square = 0;
  for (const value of pooled) {
    square += value * value;
  }
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  for (let i = 0; i < dimensions; i++) {
    out[i] = pooled[i]! * scale;
  }
}
