/** Peter Acklam's rational approximation of the normal quantile, relative error below 1.2e-9; source: https://web.archive.org/web/20151030215612/http://home.online.no/~pjacklam/notes/invnorm/ */
function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return (
      (((((-7.784894002430293e-3 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) *
        q +
        4.374664141464968) *
        q +
        2.938163982698783) /
      ((((7.784695709041462e-3 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) *
        q +
        1)
    );
  }
  const q = p - 0.5;
  const r = q * q;
  return (
    ((((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
      2.506628277459239) *
      q) /
    (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
      1)
  );
}

// A table of quantiles gives two normal numbers per 32-bit random number: a million vectors take seconds, not minutes.
const NORMAL = Float64Array.from({ length: 65_536 }, (_, i) => normalQuantile((i + 0.5) / 65_536));

/** Seeded generator (xoshiro128**, state filled by splitmix32): the same numbers on every machine. Source: https://prng.di.unimi.it/ */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;
  #spare = -1;

  constructor(seed: number) {
    let state = seed | 0;
    const fill = () => {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.#a = fill();
    this.#b = fill();
    this.#c = fill();
    this.#d = fill();
  }

  /** An integer, 0..2^32-1. */
  bits(): number {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9);
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  /** A number in [0, 1). */
  unit(): number {
    return this.bits() / 4_294_967_296;
  }

  /** An integer, 0..below-1. */
  below(below: number): number {
    return Math.floor(this.unit() * below);
  }

  /** A normally distributed number with mean 0 and standard deviation 1. */
  normal(): number {
    if (this.#spare >= 0) {
      const value = NORMAL[this.#spare] as number;
      this.#spare = -1;
      return value;
    }
    const bits = this.bits();
    this.#spare = bits >>> 16;
    return NORMAL[bits & 0xffff] as number;
  }
}
