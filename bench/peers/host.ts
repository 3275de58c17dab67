// A process for one system, so that memory, crashes and threads are separate, and times are taken in the process.
import { type Dataset, openDataset, queryOf, THRESHOLD } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import type { Hits, PageRequest, Peer } from './peer.js';
import type { Cell, Command, Crowd, Replies, Reply, Round } from './protocol.js';
import { cardOf } from './registry.js';

const [name, threads] = process.argv.slice(2);
const peer: Peer = await cardOf(name ?? '').make({ threads: Number(threads) });
const cursors = new Map<string, string>();
let dataset: Dataset | undefined;
let beforeBytes = 0;

process.on('message', (command: Command) => {
  answer(command).then(
    (value) => send({ value }),
    (error: unknown) =>
      send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// Ends with its parent process.
process.on('disconnect', () => process.exit(0));

function send(reply: Reply): void {
  process.send?.(reply);
}

async function answer(command: Command): Promise<Replies[Command['op']]> {
  switch (command.op) {
    case 'load': {
      dataset = openDataset(command.key);
      const start = performance.now();
      await peer.load(dataset, command.directory);
      const ms = performance.now() - start;
      await peer.settle?.();
      return { ms };
    }
    case 'reopen': {
      dataset = openDataset(command.key, { vectors: false });
      beforeBytes = process.memoryUsage().rss;
      const start = performance.now();
      await peer.reopen?.(dataset, command.directory);
      const ms = performance.now() - start;
      const [first] = await answers({ filter: NONE, limit: 50, page: 0, queries: 1 });
      if (first?.ids.length === 0) throw new Error('nothing was found after reopening');
      return { ms, firstAnswerMs: performance.now() - start };
    }
    case 'answers':
      return answers(command.cell, command.batched);
    case 'drain':
      return drain(command.query, { filter: command.filter, limit: command.limit }, command.pages);
    case 'round':
      return round(command.cell, command.batched);
    case 'clients':
      return crowd(command);
    case 'memory':
      return { residentBytes: process.memoryUsage().rss, beforeBytes };
    case 'close':
      await peer.close();
      return null;
  }
}

async function answers(cell: Cell, batched = false): Promise<Hits[]> {
  if (batched) {
    const found = await together(cell);
    return found.map(({ ids, scores }) => ({ ids, scores }));
  }
  const all: Hits[] = [];
  for (let q = 0; q < cell.queries; q++) {
    const { ids, scores } = await peer.search(query(q), await requestOf(cell, q));
    all.push({ ids, scores });
  }
  return all;
}

async function drain(q: number, of: Pick<Cell, 'filter' | 'limit'>, pages: number): Promise<Hits[]> {
  const all: Hits[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page++) {
    const request = { ...of, page, threshold: THRESHOLD, ...(cursor === undefined ? {} : { cursor }) };
    const { ids, scores, next } = await peer.search(query(q), request);
    all.push({ ids, scores, ...(next === undefined ? {} : { next }) });
    cursor = next;
    if (ids.length < of.limit) break;
  }
  return all;
}

async function round(cell: Cell, batched = false): Promise<Round> {
  const times: Round = { wall: [], cpu: [] };
  const take = async (call: () => Promise<Hits | undefined> | Hits) => {
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    const hits = await call();
    times.wall.push(hits?.micros ?? Number(process.hrtime.bigint() - start) / 1_000);
    const { user, system } = process.cpuUsage(cpu);
    times.cpu.push(hits?.micros ?? user + system);
  };
  if (batched) {
    await take(async () => (await together(cell))[0]);
    return times;
  }
  for (let q = 0; q < cell.queries; q++) {
    const request = await requestOf(cell, q);
    const vector = query(q);
    await take(() => peer.search(vector, request));
  }
  return times;
}

/** The first pages of all queries of a cell, by one call. */
async function together({ filter, limit, queries }: Cell): Promise<Hits[]> {
  if (peer.searchMany === undefined) throw new Error('the system has no call for many searches');
  const request = { filter, limit, page: 0, threshold: THRESHOLD };
  return peer.searchMany(
    Array.from({ length: queries }, (_, q) => query(q)),
    request,
  );
}

/** Concurrent clients with one call each, or with `batched`, one call for all if the system supports it. */
async function crowd({ cell, clients, ms, batched }: Extract<Command, { op: 'clients' }>): Promise<Crowd> {
  const wall: number[] = [];
  const start = performance.now();
  const until = start + ms;
  let next = 0;
  const requests = await Promise.all(Array.from({ length: cell.queries }, (_, q) => requestOf(cell, q)));
  const client = async () => {
    while (performance.now() < until) {
      const q = next++ % cell.queries;
      const begun = performance.now();
      await peer.search(query(q), requests[q] as PageRequest);
      wall.push((performance.now() - begun) * 1_000);
    }
  };
  if (peer.searchMany === undefined || !batched) {
    await Promise.all(Array.from({ length: clients }, client));
  } else {
    while (performance.now() < until) {
      const batch = Array.from({ length: clients }, () => query(next++ % cell.queries));
      const begun = performance.now();
      await peer.searchMany(batch, requests[0] as PageRequest);
      for (const _ of batch) wall.push((performance.now() - begun) * 1_000);
    }
  }
  return { throughput: wall.length / ((performance.now() - start) / 1_000), wall };
}

/** The request for one page. Its cursor is found before the measurement, and cached. */
async function requestOf({ filter, limit, page, cursors: given }: Cell, q: number): Promise<PageRequest> {
  const request = { filter, limit, page, threshold: THRESHOLD };
  if (given !== undefined) return { ...request, cursor: given[q] as string };
  if (page === 0) return request;
  const key = JSON.stringify([filter.name, limit, page, q]);
  let cursor = cursors.get(key);
  if (cursor === undefined) {
    let next: string | undefined;
    for (let before = 0; before < page; before++) {
      const hits = await peer.search(query(q), {
        ...request,
        page: before,
        ...(next === undefined ? {} : { cursor: next }),
      });
      next = hits.next;
      if (next === undefined) break;
    }
    cursor = next ?? '';
    cursors.set(key, cursor);
  }
  return cursor === '' ? request : { ...request, cursor };
}

function query(q: number): Float32Array {
  if (dataset === undefined) throw new Error('not loaded');
  return queryOf(dataset, q);
}
