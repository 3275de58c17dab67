import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_DIRECTORY, type Dataset, nameOf } from '../../data/dataset.js';
import { BENCH_DIRECTORY } from '../../paths.js';
import { LineProcess } from '../line-process.js';
import { MaskFiles } from '../masks.js';
import {
  cutPage,
  type Hits,
  type PageRequest,
  type Peer,
  type PeerCard,
  type PeerOptions,
  reach,
} from '../peer.js';

const FAISS = '1.15.1';
const NUMPY = '2.4.6';

/** The exact search of faiss, in Python. */
export const FAISS_FLAT: PeerCard = {
  name: 'faiss flat',
  exact: true,
  maxRecords: 1_000_000,
  settings:
    'IndexFlatIP, from 20 queries at once by BLAS; filters come as ready bitmaps, made outside the clock',
  make: async (options) => new FaissFlat(options),
};

interface Answer {
  readonly micros: number;
  readonly rows: readonly string[];
  readonly scores: readonly string[];
}

class FaissFlat implements Peer {
  readonly #threads: number;
  #process?: LineProcess;
  #masks?: MaskFiles;

  constructor({ threads }: PeerOptions) {
    this.#threads = threads;
  }

  async load(dataset: Dataset, directory: string): Promise<void> {
    this.#masks = new MaskFiles(dataset, directory);
    const { records, dimensions } = dataset;
    const program = join(BENCH_DIRECTORY, 'peers/faiss-host.py');
    const vectors = join(CACHE_DIRECTORY, `${nameOf(dataset)}.f32`);
    const numbers = [records, dimensions, this.#threads].map(String);
    this.#process = new LineProcess(pythonWithFaiss(), [program, vectors, ...numbers]);
    await this.#process.line();
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    const [hits] = await this.searchMany([query], request);
    return hits as Hits;
  }

  async searchMany(queries: readonly Float32Array[], request: PageRequest): Promise<Hits[]> {
    if (this.#process === undefined) throw new Error('not loaded');
    const bytes = Buffer.concat(
      queries.map((query) => new Uint8Array(query.buffer, query.byteOffset, query.byteLength)),
    );
    const message = {
      queries: bytes.toString('base64'),
      limit: reach(request),
      mask: this.#masks?.pathOf(request.filter),
    };
    const { micros, rows, scores } = JSON.parse(await this.#process.ask(JSON.stringify(message))) as Answer;
    return rows.map((found, q) => ({
      ...cutPage(
        Array.from(new Int32Array(bytesOf(found)), (row) => row + 1),
        Array.from(new Float32Array(bytesOf(scores[q] as string))),
        request,
      ),
      micros,
    }));
  }

  close(): void {
    this.#process?.end();
  }
}

function bytesOf(base64: string): ArrayBuffer {
  // A copy, because a buffer may be a view of a larger one.
  return new Uint8Array(Buffer.from(base64, 'base64')).buffer;
}

/** The Python interpreter of a separate environment, which is created if it does not exist. */
function pythonWithFaiss(): string {
  const environment = join(CACHE_DIRECTORY, `faiss-${FAISS}`);
  const python = join(environment, 'bin/python');
  const mark = join(environment, 'made');
  if (existsSync(mark)) return python;
  const run = (command: string, ...options: string[]) =>
    execFileSync(command, options, { stdio: ['ignore', 2, 2] });
  try {
    run('python3', '-m', 'venv', '--clear', environment);
    const packages = [`faiss-cpu==${FAISS}`, `numpy==${NUMPY}`];
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages);
  } catch (cause) {
    throw new Error('faiss cannot be installed here (it needs python3, 3.11 or later, and PyPI)', { cause });
  }
  writeFileSync(mark, '');
  return python;
}
