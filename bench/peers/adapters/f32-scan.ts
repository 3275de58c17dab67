import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CACHE_DIRECTORY, type Dataset, nameOf } from '../../data/dataset.js';
import { type Filter, predicateOf } from '../../data/filters.js';
import { ROOT_DIRECTORY } from '../../paths.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

/** The yardstick: f32 vectors scanned in Rust with the widest instructions there are. */
export const F32_SCAN: PeerCard = {
  name: 'f32 scan (native)',
  exact: true,
  maxRecords: 1_000_000,
  settings:
    'fused multiply-add in 4 sums of 16, one thread; filters come as ready bitmaps, made outside the clock',
  make: async () => new F32Scan(),
};

class F32Scan implements Peer {
  #dataset?: Dataset;
  #directory = '';
  #process?: ChildProcess;
  #waiting: ((line: string) => void)[] = [];
  readonly #masks = new Map<string, string>();

  async load(dataset: Dataset, directory: string): Promise<void> {
    this.#dataset = dataset;
    this.#directory = directory;
    const build = ['build', '--release', '--quiet', '-p', 'cosift-kernels', '--example', 'f32_scan'];
    execFileSync('cargo', build, { cwd: ROOT_DIRECTORY, stdio: ['ignore', 2, 2] });
    const program = join(
      process.env.CARGO_TARGET_DIR ?? join(ROOT_DIRECTORY, 'target'),
      'release/examples/f32_scan',
    );
    const vectors = join(CACHE_DIRECTORY, `${nameOf(dataset)}.f32`);
    const child = spawn(program, [vectors, String(dataset.records), String(dataset.dimensions)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.#waiting.shift()?.(line));
    await this.#line();
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    if (this.#dataset === undefined) throw new Error('not loaded');
    const { filter, threshold } = request;
    const q = (query.byteOffset - this.#dataset.queries.byteOffset) / query.byteLength;
    this.#process?.stdin?.write(
      `scan ${q} ${reach(request)} ${threshold} ${this.#maskOf(filter, this.#dataset)}\n`,
    );
    const [micros, ...hits] = (await this.#line()).split(' ');
    const pairs = hits.map((hit) => hit.split(':').map(Number) as [number, number]);
    const page = cutPage(
      pairs.map(([id]) => id),
      pairs.map(([, score]) => score),
      request,
    );
    return { ...page, micros: Number(micros) };
  }

  close(): void {
    this.#process?.stdin?.end();
  }

  #line(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #maskOf(filter: Filter, { records, columns }: Dataset): string {
    if (filter.group === undefined && filter.time === undefined) return '-';
    const kept = this.#masks.get(filter.name);
    if (kept !== undefined) return kept;
    const passes = predicateOf(filter, columns);
    const bits = new Uint8Array(Math.ceil(records / 64) * 8);
    for (let i = 0; i < records; i++) if (passes(i)) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
    const path = join(this.#directory, `mask-${this.#masks.size}`);
    writeFileSync(path, bits);
    this.#masks.set(filter.name, path);
    return path;
  }
}
