/** The `size` best of a stream of scored ids, in a binary heap whose root is the worst of them. */
export class Top {
  readonly #size: number;
  readonly #ids: number[] = [];
  readonly #scores: number[] = [];
  /** The score floor: lower scores cannot enter. */
  floor: number;

  constructor(size: number, threshold: number) {
    this.#size = size;
    this.floor = threshold;
  }

  /** Adds a record. Call it only with scores of at least `floor`. */
  offer(id: number, score: number): void {
    const [ids, scores] = [this.#ids, this.#scores];
    if (ids.length < this.#size) {
      let at = ids.length;
      ids.push(id);
      scores.push(score);
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (!this.#worse(at, parent)) break;
        this.#swap(at, parent);
        at = parent;
      }
    } else {
      const worst = scores[0] as number;
      if (score < worst || (score === worst && id > (ids[0] as number))) return;
      ids[0] = id;
      scores[0] = score;
      this.#sink();
    }
    if (ids.length === this.#size) this.floor = Math.max(this.floor, scores[0] as number);
  }

  /** All records, best first, ties by id. */
  sorted(): { ids: number[]; scores: number[] } {
    const order = this.#ids.map((_, i) => i);
    const [ids, scores] = [this.#ids, this.#scores];
    order.sort(
      (a, b) => (scores[b] as number) - (scores[a] as number) || (ids[a] as number) - (ids[b] as number),
    );
    return { ids: order.map((i) => ids[i] as number), scores: order.map((i) => scores[i] as number) };
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#ids.length && this.#worse(child, worst)) worst = child;
      }
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #worse(a: number, b: number): boolean {
    const difference = (this.#scores[a] as number) - (this.#scores[b] as number);
    return difference < 0 || (difference === 0 && (this.#ids[a] as number) > (this.#ids[b] as number));
  }

  #swap(a: number, b: number): void {
    const [id, score] = [this.#ids[a] as number, this.#scores[a] as number];
    this.#ids[a] = this.#ids[b] as number;
    this.#scores[a] = this.#scores[b] as number;
    this.#ids[b] = id;
    this.#scores[b] = score;
  }
}
