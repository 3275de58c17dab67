import { createEmbedder } from '../../src/embedding/index.js';
import type { Cosift as Library } from '../../src/index.js';
import { native } from '../../src/store/local/binding.js';
import { openBuiltLibrary } from '../built.js';
import { openDataset, THRESHOLD } from '../data/dataset.js';
import { debianKey, hasDebian, QUERY_TEXTS } from '../data/debian.js';
import { NONE } from '../data/filters.js';
import { inTemporaryDirectory } from '../paths.js';
import { Cosift, DATABASE, firstPage, searchRequest } from '../peers/adapters/cosift.js';
import type { Values } from '../report/measurement.js';
import { latency, median } from '../report/statistics.js';
import { crowd, startServer } from './http-load.js';
import { LIMIT, type Session, type Suite } from './session.js';

const ROUNDS = 20;

/** The same searches at each layer: engine, binding, library, HTTP; texts come from the cache of query vectors. */
export const LAYERS: Suite = {
  name: 'layers',
  about: 'what each layer adds, on real vectors: engine, binding, library by text, HTTP with 1 to 64 clients',
  async run(session) {
    if (!hasDebian()) {
      session.failures.push('layers: no real data; run `npm run bench:debian` first');
      return;
    }
    const key = await debianKey(session.say);
    const dataset = openDataset(key);
    const embedder = await createEmbedder({ workers: 1 });
    const { model, fingerprint } = embedder;
    await embedder.close();
    session.say(`layers: ${key.records} records`);
    const add = (cell: string, values: Values, clients = 1) =>
      session.measurements.push({
        suite: 'layers',
        cell,
        system: 'cosift',
        records: key.records,
        dimensions: 384,
        clients,
        values,
      });
    await inTemporaryDirectory(async (directory) => {
      const engine = new Cosift(2, { model, fingerprint });
      await engine.load(dataset, directory);
      await measureBinding(engine, dataset.queries, add);
      await engine.close();
      const library = await openBuiltLibrary(directory);
      await measureLibrary(session, library, add);
      await library.close();
      await measureHttp(session, directory, add);
    });
  },
};

type Add = (cell: string, values: Values, clients?: number) => void;

async function measureBinding({ engine }: Cosift, queries: Float32Array, add: Add): Promise<void> {
  const { StopFlag } = native();
  const request = searchRequest({ filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 });
  const inside: number[] = [];
  const around: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let q = 0; q < QUERY_TEXTS.length; q++) {
      const vector = Float64Array.from(queries.slice(q * 384, (q + 1) * 384));
      const start = performance.now();
      const page = firstPage(await engine.searches(DATABASE, [request], [vector], new StopFlag()));
      const micros = (performance.now() - start) * 1_000;
      if (round === 0) continue;
      around.push(micros);
      inside.push(page.searchMs * 1_000);
    }
  }
  add('engine', latency(inside));
  add('binding', { ...latency(around), times_engine: median(around) / median(inside) });
}

async function measureLibrary(session: Session, library: Library, add: Add): Promise<void> {
  const database = library.database(DATABASE);
  const search = async (q: number) => {
    const text = QUERY_TEXTS[q % QUERY_TEXTS.length] as string;
    await database.search(text);
  };
  for (let q = 0; q < QUERY_TEXTS.length; q++) await search(q);
  for (const clients of session.full ? [1, 2, 4, 8, 16, 32, 64] : [1, 8, 32]) {
    const { wall, throughput } = await crowd(clients, session.full ? 4_000 : 2_000, search);
    add('library, by cached text', { ...latency(wall), per_second: throughput }, clients);
  }
}

async function measureHttp(session: Session, directory: string, add: Add): Promise<void> {
  const server = await startServer(directory);
  try {
    const search = (q: number) =>
      server.post(`/v1/databases/${DATABASE}/search`, {
        search: { text: QUERY_TEXTS[q % QUERY_TEXTS.length] },
      });
    for (let q = 0; q < QUERY_TEXTS.length; q++) await search(q);
    for (const clients of session.full ? [1, 2, 4, 8, 16, 32, 64] : [1, 8, 32]) {
      const { wall, throughput } = await crowd(clients, session.full ? 4_000 : 2_000, search);
      add('HTTP, by cached text', { ...latency(wall), per_second: throughput }, clients);
    }
  } finally {
    await server.stop();
  }
}
