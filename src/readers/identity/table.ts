const KEY_WORDS = 4;
const MAX_LOAD_FACTOR = 0.7;

/**
 * A hash table from keys of 16 bytes to numbers above 0, with open addressing in typed arrays. A slot has 20 bytes, so
 * that the identities of ten million records take 350 MB; a `Map` is limited to 2^24 entries.
 */
export class IdentityTable {
  #keys: Uint32Array;
  /** 0: the slot is empty. */
  #values: Uint32Array;
  #size = 0;

  constructor(slots = 1 << 12) {
    this.#keys = new Uint32Array(slots * KEY_WORDS);
    this.#values = new Uint32Array(slots);
  }

  /** Returns the number of a key; 0 when it has none. */
  get(key: Uint32Array): number {
    return this.#values[this.#slotOf(key)] ?? 0;
  }

  /** Sets the number of a key. `value` is above 0. */
  set(key: Uint32Array, value: number): void {
    if (this.#size + 1 > this.#values.length * MAX_LOAD_FACTOR) this.#grow();
    const slot = this.#slotOf(key);
    if (this.#values[slot] === 0) {
      this.#keys.set(key, slot * KEY_WORDS);
      this.#size += 1;
    }
    this.#values[slot] = value;
  }

  /** Returns the slot of the key, or the empty slot where it would be inserted. */
  #slotOf(key: Uint32Array): number {
    const mask = this.#values.length - 1;
    let slot = hashOf(key) & mask;
    while (this.#values[slot] !== 0 && !this.#holds(slot, key)) slot = (slot + 1) & mask;
    return slot;
  }

  #holds(slot: number, key: Uint32Array): boolean {
    const start = slot * KEY_WORDS;
    for (let at = 0; at < KEY_WORDS; at++) if (this.#keys[start + at] !== key[at]) return false;
    return true;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Uint32Array(keys.length * 2);
    this.#values = new Uint32Array(values.length * 2);
    const key = new Uint32Array(KEY_WORDS);
    for (let slot = 0; slot < values.length; slot++) {
      const value = values[slot] as number;
      if (value === 0) continue;
      for (let at = 0; at < KEY_WORDS; at++) key[at] = keys[slot * KEY_WORDS + at] as number;
      const to = this.#slotOf(key);
      this.#keys.set(key, to * KEY_WORDS);
      this.#values[to] = value;
    }
  }
}

/** Hashes a key by MurmurHash3's mixing of 32-bit words: <https://github.com/aappleby/smhasher/wiki/MurmurHash3>. */
function hashOf(key: Uint32Array): number {
  let hash = 0;
  for (let at = 0; at < KEY_WORDS; at++) {
    let word = key[at] as number;
    word = Math.imul(word, 0xcc9e2d51);
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash ^= word;
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
