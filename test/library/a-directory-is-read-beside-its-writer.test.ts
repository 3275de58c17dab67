import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Cosift, CosiftError, open } from 'cosift';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { models } from './models-of-two-angles.mjs';

const WRITER = fileURLToPath(new URL('./a-writer-to-be-killed.mjs', import.meta.url));

let root: string;
let directory: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'cosift-read-'));
  directory = path.join(root, 'data');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const record = (id: number, data: Record<string, string | number>, vector = [1, 0]) => ({ id, data, vector });

test('each call sees every write of another process that was acknowledged before it', async () => {
  // Two openings of one process are as independent of each other as those of two processes.
  await using writer = await open(directory);
  const written = await writer.createDatabase('facts', { dimensions: 2 });
  await using reader = await open(directory, { readOnly: true });
  const read = reader.database('facts');
  expect((await read.query()).results).toEqual([]);

  await written.upsert([record(1, { name: 'one' }), record(2, { name: 'two' }, [0, 1])]);
  expect((await read.search({ vector: [1, 0] }, { threshold: 0.5 })).results.map(({ data }) => data)).toEqual(
    [{ name: 'one' }],
  );
  expect((await read.get(2))?.data).toEqual({ name: 'two' });
  const changes = (await read.changes()).changes.map(({ kind, id }) => `${kind} ${id}`);
  expect(changes).toEqual(['created 1', 'created 2']);

  await written.patch(1, { name: 'first' });
  await written.delete({ ids: [2] });
  await written.configure({ defaults: { limit: 7 }, lexical: true });
  expect((await read.query()).results.map(({ data }) => data)).toEqual([{ name: 'first' }]);
  expect(await read.describe()).toMatchObject({ records: 1, lexical: true, defaults: { limit: 7 } });

  await writer.createDatabase('more', { dimensions: 3 });
  expect((await reader.databases()).map(({ id }) => id)).toEqual(['facts', 'more']);
  await writer.setAlias('current', 'more');
  expect(await reader.aliases()).toEqual([{ name: 'current', database: 'more' }]);
  expect((await reader.database('current').describe()).dimensions).toBe(3);
  await writer.deleteAlias('current');
  await writer.database('more').drop();
  await expect(reader.database('more').query()).rejects.toMatchObject({ code: 'database_not_found' });
  expect((await reader.databases()).map(({ id }) => id)).toEqual(['facts']);
  await written.drop();
  await (await writer.createDatabase('facts', { dimensions: 1 })).upsert([{ id: 9, data: {}, vector: [1] }]);
  expect((await read.query()).results.map(({ id }) => id)).toEqual([9]);
});

test('calls during the opening of a database that took the place of another see the newest writes', async () => {
  await using writer = await open(directory);
  let written = await writer.createDatabase('facts', { dimensions: 2 });
  await using reader = await open(directory, { readOnly: true });
  const read = reader.database('facts');
  const total = async () => (await read.query({ total: true, limit: 1 })).total!.value;
  const records = Array.from({ length: 6_000 }, (_, at) => record(at + 1, {}));
  expect(await total()).toBe(0);
  for (let round = 0; round < inFull(10, 2); round += 1) {
    await written.drop();
    written = await writer.createDatabase('facts', { dimensions: 2 });
    await written.upsert(records);
    const calls = [total()];
    const least = [records.length];
    for (let more = 1; more <= 20; more += 1) {
      await written.upsert([record(records.length + more, {})]);
      least.push(records.length + more);
      calls.push(total());
    }
    for (const [at, value] of (await Promise.all(calls)).entries()) {
      expect(value).toBeGreaterThanOrEqual(least[at]!);
    }
  }
});

test('a description says how old the state is', async () => {
  const before = Date.now();
  await using writer = await open(directory);
  await (await writer.createDatabase('facts', { dimensions: 2 })).upsert([record(1, {})]);
  await using reader = await open(directory, { readOnly: true });
  const { times } = await reader.database('facts').describe();
  const { times: own } = await writer.database('facts').describe();
  expect(times.last_write_at).toBe(own.last_write_at);
  expect(Date.parse(times.as_of!)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(times.as_of!)).toBeGreaterThanOrEqual(Date.parse(times.last_write_at));
  expect(own).not.toHaveProperty('as_of');
});

test('a reader that waits for a change learns of that of another process', async () => {
  await using writer = await open(directory);
  const written = await writer.createDatabase('facts', { dimensions: 2 });
  await using reader = await open(directory, { readOnly: true });
  const waiting = reader.database('facts').changes({ waitMs: 20_000 });
  await written.upsert([record(1, {})]);
  expect((await waiting).changes).toHaveLength(1);
});

test('an export goes on with the state at its beginning', async () => {
  await using writer = await open(directory);
  const written = await writer.createDatabase('facts', { dimensions: 2 });
  const records = Array.from({ length: 5_000 }, (_, at) => record(at + 1, { text: 'x'.repeat(100) }));
  await written.upsert(records);
  await using reader = await open(directory, { readOnly: true });
  const lines = reader.database('facts').exportLines();
  const first = await lines.next();
  await written.delete({ filter: { column: 'text', operator: 'is_not_empty' } });
  expect((await reader.database('facts').describe()).records).toBe(0);
  let text = Buffer.from(first.value as Uint8Array).toString();
  for await (const chunk of lines) text += Buffer.from(chunk).toString();
  expect(text.trimEnd().split('\n')).toHaveLength(5_000);
});

test('calls that write are refused, and change no file', async () => {
  {
    await using writer = await open(directory);
    await (await writer.createDatabase('facts', { dimensions: 2 })).upsert([record(1, {})]);
  }
  const before = filesOf(directory);
  const reader = await open(directory, { readOnly: true });
  const facts = reader.database('facts');
  const calls: (() => Promise<unknown>)[] = [
    () => reader.createDatabase('facts', { dimensions: 2 }),
    () => reader.createDatabase('new', { model: 'none' }),
    () => reader.setAlias('a', 'facts'),
    () => reader.deleteAlias('a'),
    () => reader.backup().next(),
    () => facts.upsert([record(2, {})]),
    () => facts.upsert([]),
    () => facts.upsertLines([Buffer.from('{"id":3,"data":{},"vector":[1,0]}\n')]).next(),
    () => facts.replaceAll([record(2, {})]),
    () => facts.patch(1, { a: 1 }),
    () => facts.delete({ ids: [1] }),
    () => facts.configure({ lexical: true }),
    () => facts.configure({ model: 'other' }),
    () => facts.reembed('all-MiniLM-L6-v2'),
    () => facts.cancelReembedding(),
    () => facts.drop(),
  ];
  for (const call of calls) {
    await expect(call(), String(call)).rejects.toMatchObject({ code: 'read_only', status: 409 });
  }
  expect((await facts.query()).results).toHaveLength(1);
  for await (const { status } of reader.doctor()) expect(status).toBe('ok');
  await reader.close();
  await expect(facts.query()).rejects.toMatchObject({ code: 'not_ready' });
  expect(filesOf(directory)).toEqual(before);
  await using again = await open(directory);
  expect((await again.database('facts').query()).results).toHaveLength(1);
});

/** The files below a directory with their sizes and times, without those that SQLite shares between processes. */
function filesOf(place: string): string[] {
  return readdirSync(place, { recursive: true })
    .map(String)
    .filter((name) => !/-(wal|shm)$/.test(name) && statSync(path.join(place, name)).isFile())
    .map((name) => {
      const { size, mtimeMs, ino } = statSync(path.join(place, name));
      return `${name} ${size} ${mtimeMs} ${ino}`;
    })
    .toSorted();
}

test('what is no data directory is refused, and not created', async () => {
  const opened = (place: string) => open(place, { readOnly: true });
  await expect(opened(directory)).rejects.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('does not exist'),
  });
  mkdirSync(directory);
  await expect(opened(directory)).rejects.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('has no databases yet'),
  });
  expect(readdirSync(directory)).toEqual([]);
  await expect(open({ store: 'postgres://u@h/d' }, { readOnly: true })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  await expect(open(directory, { readOnly: 1 as never })).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a directory that the process cannot write is read', async () => {
  {
    await using writer = await open(directory);
    await (await writer.createDatabase('facts', { dimensions: 2 })).upsert([record(1, { a: 1 })]);
  }
  const program = `
    const { open } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
    const { accessSync, constants } = await import('node:fs');
    if (process.getuid() === 0) process.setuid(65534);
    let writable = true;
    try { accessSync(process.argv[1], constants.W_OK) } catch { writable = false }
    const reader = await open(process.argv[1], { readOnly: true });
    const { results } = await reader.database('facts').query();
    await reader.close();
    process.send({ writable, results: results.length });`;
  const everything = [
    root,
    directory,
    ...readdirSync(directory, { recursive: true }).map((name) => path.join(directory, String(name))),
  ];
  for (const place of everything) chmodSync(place, statSync(place).isDirectory() ? 0o555 : 0o444);
  try {
    const child = fork('--eval', [], { execArgv: ['--input-type=module', '--eval', program, directory] });
    const [message] = await once(child, 'message');
    expect(message).toEqual({ writable: false, results: 1 });
  } finally {
    for (const place of everything) chmodSync(place, 0o755);
  }
});

const KILLS = inFull(8, 1);
const RECORDS = 700;

test('no answer mixes two commits while another process writes, and is killed and started again', async () => {
  const random = new Random(11);
  let child: ChildProcess | undefined;
  let reader: Cosift | undefined;
  const known = { began: 0, written: 0 };
  const counts = {
    full: 0,
    empty: 0,
    texts: 0,
    missing: 0,
    rounds: new Set<number>(),
    models: new Set<string>(),
  };
  /** The exit codes of writers that ended by themselves. */
  const failed: number[] = [];
  let stopped = false;

  const start = async (seed: number) => {
    child = fork(WRITER, [directory, seed, RECORDS, known.began].map(String));
    child.on('message', (message: object) => Object.assign(known, message));
    child.on('exit', (code) => failed.push(...(code === null ? [] : [code])));
    await once(child, 'message');
  };

  /** The round of the records of an answer, of which there are `expected`, or none. */
  const roundOf = (rounds: readonly unknown[], expected: number, least: number) => {
    const distinct = new Set(rounds);
    expect(distinct.size).toBeLessThanOrEqual(1);
    if (distinct.size === 0) {
      counts.empty += 1;
      return;
    }
    const [round] = [...distinct] as number[];
    expect(rounds).toHaveLength(expected);
    expect(round).toBeGreaterThanOrEqual(least);
    counts.full += 1;
    counts.rounds.add(round!);
  };
  const rounds = (results: readonly { data: Record<string, unknown> }[]) =>
    results.map(({ data }) => data.round);

  const pairs = () => reader!.database('pairs');
  const checks = [
    async () => {
      const least = known.written;
      const page = await pairs().query({ limit: 100, total: true });
      expect([0, RECORDS]).toContain(page.total?.value);
      roundOf(rounds(page.results), 100, least);
    },
    async () => {
      const least = known.written;
      const vector = [1, 1];
      const page = await pairs().search({ vector }, { threshold: 0, limit: 100, total: true });
      expect([0, RECORDS]).toContain(page.total?.value);
      roundOf(rounds(page.results), 100, least);
      const scores = new Set(page.results.map(({ relevance_score }) => relevance_score));
      expect(scores.size).toBeLessThanOrEqual(1);
    },
    async () => {
      const least = known.written;
      let text = '';
      for await (const chunk of pairs().exportLines({ vectors: true })) text += Buffer.from(chunk).toString();
      const lines = text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      expect(new Set(lines.map(({ vector }) => String(vector))).size).toBeLessThanOrEqual(1);
      roundOf(rounds(lines), RECORDS, least);
    },
    async () => {
      const { records, defaults, columns } = await pairs().describe();
      expect([0, RECORDS]).toContain(records);
      expect(columns.every((column) => column.records === records)).toBe(true);
      if (defaults?.threshold) expect(defaults.threshold * 1_000).toBeCloseTo(defaults.limit!);
      const { results } = await pairs().query();
      expect([0, 10, ...Array.from({ length: 90 }, (_, at) => at + 1)]).toContain(results.length);
    },
    async () => {
      const texts = reader!.database('texts');
      const id = 1 + random.below(20);
      const { results } = await texts.search(`text ${id}`, { limit: 1 });
      expect(results[0]).toMatchObject({ id, relevance_score: 1 });
      counts.models.add(String((await texts.describe()).model));
      counts.texts += 1;
    },
    async () => {
      for await (const { database, check, status, detail } of reader!.doctor()) {
        expect(status, `${database} ${check}: ${detail}`).not.toBe('problem');
      }
    },
    async () => {
      for (const { id } of await reader!.databases()) expect(id).toMatch(/^(pairs|texts|other-\d)$/);
    },
  ];
  const loop = async (at: number) => {
    for (let turn = at; !stopped; turn += 1) {
      try {
        await checks[turn % checks.length]!();
      } catch (error) {
        if (!(error instanceof CosiftError && error.code === 'database_not_found')) throw error;
        counts.missing += 1;
      }
    }
  };

  try {
    await start(1);
    reader = await open(directory, { readOnly: true, models });
    const loops = Promise.all(Array.from({ length: checks.length }, (_, at) => loop(at)));
    const killing = async () => {
      for (let kill = 0; kill < KILLS && !stopped && failed.length === 0; kill += 1) {
        await sleep(200 + random.below(inFull(1_000, 200)));
        if (failed.length > 0) break;
        child!.kill('SIGKILL');
        await once(child!, 'exit');
        if (kill % 3 === 1) await sleep(50);
        await start(kill + 2);
      }
      const isSeen = () => counts.full > 0 && counts.rounds.size > 3 && counts.texts > 0;
      while (!stopped && failed.length === 0 && !isSeen()) await sleep(10);
    };
    await Promise.race([loops, killing()]);
    stopped = true;
    await loops;
    if (inFull(true, false)) console.log({ ...counts, rounds: counts.rounds.size, written: known.written });
    expect(failed).toEqual([]);
    expect(counts.full).toBeGreaterThan(0);
    expect(counts.rounds.size).toBeGreaterThan(3);
    expect(counts.texts).toBeGreaterThan(0);
  } finally {
    stopped = true;
    child?.kill('SIGKILL');
    await reader?.close();
  }
});
