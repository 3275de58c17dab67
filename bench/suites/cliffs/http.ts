import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { inTemporaryDirectory } from '../../paths.js';
import { ADMIN_KEY, type Server, startServer } from '../http-load.js';
import { PipelinedLoad } from '../pipelined-load.js';
import type { Cliff, CliffCell } from './cliff.js';

const CONNECTIONS = 16;
/** Requests of one connection that wait for their responses. */
const DEPTH = 4;
const WARM_UP_MS = 1_500;
const ROUNDS = 4;
const MS = 800;
const GOAL = 25_000;
/**
 * The goal was set on a machine that answers 57,400 requests per second for `/livez`, which does nothing but HTTP. On
 * another machine, the same goal is this ratio of the times.
 */
const GOAL_TIMES = 57_400 / GOAL;
const TEXTS = ['solar power', 'deep sea fish', 'how do volcanoes form', 'cats and dogs', 'winter sports'];
const LIVEZ = '/livez';
const SEARCHES = [
  { path: '/v1/databases/demo/search', cell: 'demo over HTTP, variant B' },
  { path: '/v1/databases/demo/records/search', cell: 'demo over HTTP, variant A' },
] as const;

/** Requests that were answered, and the time and the processor time of the server that they took. */
interface Window {
  readonly answered: number;
  readonly ms: number;
  readonly cpuMs: number | undefined;
}

/** Searches of the demo at one server process, as fast as it answers them, compared with requests that only HTTP is for. */
export const HTTP: Cliff = {
  name: 'searches of the demo over HTTP',
  async run() {
    const windows = new Map<string, Window[]>(
      [LIVEZ, ...SEARCHES.map(({ path }) => path)].map((path) => [path, []]),
    );
    await inTemporaryDirectory(async (directory) => {
      const server = await startServer(directory, ['--demo']);
      try {
        for (let round = -1; round < ROUNDS; round++)
          for (const [path, measured] of windows) {
            const window = await measure(server, path, round < 0 ? WARM_UP_MS : MS);
            if (round >= 0) measured.push(window);
          }
      } finally {
        await server.stop();
      }
    });
    const livez = totalOf(windows.get(LIVEZ)!);
    return SEARCHES.map(({ path, cell }): CliffCell => {
      const search = totalOf(windows.get(path)!);
      return {
        cell,
        records: 331,
        dimensions: 384,
        values: {
          per_second: search.perSecond,
          goal_per_second: GOAL,
          times_usual: livez.perSecond / search.perSecond,
          goal_times: GOAL_TIMES,
          ...(search.cpuMs !== undefined && { cpu_mean_ms: search.cpuMs }),
        },
      };
    });
  },
};

/** Sends requests for `ms` milliseconds. */
async function measure({ port, pid }: Server, path: string, ms: number): Promise<Window> {
  const load = await PipelinedLoad.start(port, requestsOf(path), { connections: CONNECTIONS, depth: DEPTH });
  try {
    const [cpu, begun] = [processorMs(pid), performance.now()];
    await pause(ms);
    const cpuEnd = processorMs(pid);
    return {
      answered: load.answered,
      ms: performance.now() - begun,
      cpuMs: cpu !== undefined && cpuEnd !== undefined ? cpuEnd - cpu : undefined,
    };
  } finally {
    await load.stop();
  }
}

/** Requests per second, and milliseconds of processor time per request, over all windows. */
function totalOf(windows: readonly Window[]): { perSecond: number; cpuMs: number | undefined } {
  const sum = (of: (window: Window) => number) => windows.reduce((total, window) => total + of(window), 0);
  const answered = sum(({ answered }) => answered);
  const isKnown = windows.every(({ cpuMs }) => cpuMs !== undefined);
  return {
    perSecond: answered / (sum(({ ms }) => ms) / 1_000),
    cpuMs: isKnown ? sum(({ cpuMs }) => cpuMs ?? 0) / answered : undefined,
  };
}

function requestsOf(path: string): Buffer[] {
  if (path === LIVEZ) return [Buffer.from(`GET ${LIVEZ} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)];
  return TEXTS.map((text) => requestOf(path, JSON.stringify({ search: { text } })));
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

/** Linux counts processor time in hundredths of a second, whatever the frequency of its clock is. */
const TICK_MS = 10;

/** Milliseconds of processor time that all threads of a process have taken; undefined where Linux does not tell. */
function processorMs(pid: number): number | undefined {
  try {
    // The name of the process, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
