/** How the states of a text's tokens become its vector. */
export type Pooling = 'mean' | 'cls' | 'max' | 'lasttoken';

const MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  // The mean times the root of the length: the same direction, and only that is kept.
  pooling_mode_mean_sqrt_len_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'lasttoken',
};

/** The mode that a pooling configuration names; undefined when it is none of ours, or several at once. */
export function poolingOf(config: Readonly<Record<string, unknown>>): Pooling | undefined {
  const flags = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  return flags.length === 1 && config.include_prompt !== false ? MODES[flags[0]!] : undefined;
}

/**
 * Writes the unit vector of one text to `out`.
 *
 * `states` are the last hidden states, token by token, `out.length` values each. Sums are taken in float64 and in the
 * order of the tokens, so that they are the same bits everywhere.
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
