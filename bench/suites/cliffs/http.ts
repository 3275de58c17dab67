import { setTimeout as pause } from 'node:timers/promises';

import { inTemporaryDirectory } from '../../paths.js';
import { ADMIN_KEY, type Server, startServer } from '../http-load.js';
import { PipelinedLoad } from '../pipelined-load.js';
import { processorMs } from '../processor-time.js';
import type { Cliff, CliffCell } from './cliff.js';

const CONNECTIONS = 16;
/** Requests of one connection that wait for their responses. */
const DEPTH = 4;
const WARM_UP_MS = 1_500;
const MS = 2_500;
const GOAL = 25_000;
const TEXTS = ['solar power', 'deep sea fish', 'how do volcanoes form', 'cats and dogs', 'winter sports'];
const PATHS = ['/v1/databases/demo/search', '/v1/databases/demo/records/search'];

/** Searches of the demo at one server process, as fast as it answers them. */
export const HTTP: Cliff = {
  name: 'searches of the demo over HTTP',
  async run() {
    const cells: CliffCell[] = [];
    await inTemporaryDirectory(async (directory) => {
      const server = await startServer(directory, ['--demo']);
      try {
        for (const path of PATHS) cells.push(await measured(server, path));
      } finally {
        await server.stop();
      }
    });
    return cells;
  },
};

async function measured({ port, pid }: Server, path: string): Promise<CliffCell> {
  const requests = TEXTS.map((text) => requestOf(path, JSON.stringify({ search: { text } })));
  const load = await PipelinedLoad.start(port, requests, { connections: CONNECTIONS, depth: DEPTH });
  try {
    await pause(WARM_UP_MS);
    const [answered, cpu, begun] = [load.answered, processorMs(pid), performance.now()];
    await pause(MS);
    const seconds = (performance.now() - begun) / 1_000;
    const searches = load.answered - answered;
    const cpuMs = processorMs(pid);
    return {
      cell: `demo over HTTP, ${path.includes('records') ? 'variant A' : 'variant B'}`,
      records: 331,
      dimensions: 384,
      values: {
        per_second: searches / seconds,
        goal_per_second: GOAL,
        ...(cpu !== undefined && cpuMs !== undefined && { cpu_mean_ms: (cpuMs - cpu) / searches }),
      },
    };
  } finally {
    await load.stop();
  }
}

function requestOf(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `x-api-key: ${ADMIN_KEY}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
