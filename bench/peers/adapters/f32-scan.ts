import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CACHE_DIRECTORY, type Dataset, nameOf } from '../../data/dataset.js';
import { ROOT_DIRECTORY } from '../../paths.js';
import { LineProcess } from '../line-process.js';
import { MaskFiles } from '../masks.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

/** The baseline: a scan of f32 vectors in Rust with the widest instructions of the CPU. */
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
  #masks?: MaskFiles;
  #process?: LineProcess;

  async load(dataset: Dataset, directory: string): Promise<void> {
    this.#dataset = dataset;
    this.#masks = new MaskFiles(dataset, directory);
    const build = ['build', '--release', '--quiet', '-p', 'cosift-kernels', '--example', 'f32_scan'];
    execFileSync('cargo', build, { cwd: ROOT_DIRECTORY, stdio: ['ignore', 2, 2] });
    const program = join(
      process.env.CARGO_TARGET_DIR ?? join(ROOT_DIRECTORY, 'target'),
      'release/examples/f32_scan',
    );
    const vectors = join(CACHE_DIRECTORY, `${nameOf(dataset)}.f32`);
    this.#process = new LineProcess(program, [vectors, String(dataset.records), String(dataset.dimensions)]);
    await this.#process.line();
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    if (this.#dataset === undefined || this.#process === undefined) throw new Error('not loaded');
    const { filter, threshold } = request;
    const q = (query.byteOffset - this.#dataset.queries.byteOffset) / query.byteLength;
    const mask = this.#masks?.pathOf(filter) ?? '-';
    const answer = await this.#process.ask(`scan ${q} ${reach(request)} ${threshold} ${mask}`);
    const [micros, ...hits] = answer.split(' ');
    const pairs = hits.map((hit) => hit.split(':').map(Number) as [number, number]);
    const page = cutPage(
      pairs.map(([id]) => id),
      pairs.map(([, score]) => score),
      request,
    );
    return { ...page, micros: Number(micros) };
  }

  close(): void {
    this.#process?.end();
  }
}
