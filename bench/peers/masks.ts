import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../data/dataset.js';
import { type Filter, predicateOf } from '../data/filters.js';

/** Prepared bitmaps for systems in other processes: one file per filter, one bit per record, lowest bit first. */
export class MaskFiles {
  readonly #dataset: Dataset;
  readonly #directory: string;
  readonly #paths = new Map<string, string>();

  constructor(dataset: Dataset, directory: string) {
    this.#dataset = dataset;
    this.#directory = directory;
  }

  /** The file of a filter, which the first call writes; undefined if every record passes. */
  pathOf(filter: Filter): string | undefined {
    if (filter.group === undefined && filter.time === undefined) return undefined;
    const kept = this.#paths.get(filter.name);
    if (kept !== undefined) return kept;
    const { records, columns } = this.#dataset;
    const passes = predicateOf(filter, columns);
    const bits = new Uint8Array(Math.ceil(records / 64) * 8);
    for (let i = 0; i < records; i++) if (passes(i)) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
    const path = join(this.#directory, `mask-${this.#paths.size}`);
    writeFileSync(path, bits);
    this.#paths.set(filter.name, path);
    return path;
  }
}
