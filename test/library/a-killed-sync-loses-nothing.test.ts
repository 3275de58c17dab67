import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'cosift';
import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { models } from './models-of-two-angles.mjs';

const SYNC = fileURLToPath(new URL('./a-sync-to-be-killed.mjs', import.meta.url));

/** Rows of a source, by key. */
type Rows = Map<string, { sku: string; name: string }>;

/** Runs a process that syncs, and kills it after so many commits, if it has not ended. */
async function syncUntil(directory: string, file: string, commits: number): Promise<void> {
  const child = fork(SYNC, [directory, file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exit = once(child, 'exit');
  let committed = 0;
  child.on('message', (message: { committed?: true }) => {
    if (message.committed) committed += 1;
    if (committed === commits) child.kill('SIGKILL');
  });
  await exit;
}

/** The rows of a source, and the commits that a pass of all of them has at least. */
const [ROWS, COMMITS] = inFull([4_500, 19] as const, [2_000, 9] as const);

test('a pass that is killed deletes nothing, and the next one completes it', async () => {
  const random = new Random(7);
  const root = mkdtempSync(path.join(tmpdir(), 'cosift-sync-'));
  const [directory, file] = [path.join(root, 'data'), path.join(root, 'rows.json')];
  try {
    const created = await open(directory, { models });
    await created.createDatabase('facts', { model: 'first' });
    await created.close();
    const rows: Rows = new Map();
    const contentOf = (of: Rows) => [...of.values()].map(({ sku }) => `shop/${sku}`).sort();
    const add = (sku: string) => rows.set(sku, { sku, name: `article ${random.below(9_999)}` });
    for (let at = 0; at < ROWS; at++) add(`a${at}`);
    let stored: Rows = new Map();
    let inStepAsOf: Date | undefined;
    for (let round = 0; round < inFull(10, 2); round++) {
      for (const sku of [...rows.keys()].filter(() => random.chance(3))) rows.delete(sku);
      for (const sku of [...rows.keys()].filter(() => random.chance(20))) add(sku);
      for (let at = 0; at < 150; at++) add(`b${round}-${at}`);
      writeFileSync(file, JSON.stringify([...rows.values()]));
      // Every second round is one of the first load.
      const isFirst = round % 2 === 0;
      if (isFirst) {
        const cosift = await open(directory, { models });
        await cosift.database('facts').drop();
        await cosift.createDatabase('facts', { model: 'first' });
        await cosift.close();
        stored = new Map();
        inStepAsOf = undefined;
      }
      await syncUntil(directory, file, 1 + random.below(COMMITS));
      const cosift = await open(directory, { models });
      const facts = cosift.database('facts');
      const keys = async () => {
        const found: string[] = [];
        for await (const { key } of facts.queryAll()) found.push(key!);
        return found.sort();
      };
      const sync = await facts.sync({ name: 'shop', rows: () => [...rows.values()], key: 'sku' });
      const left = await keys();
      // The kill may come after the last commit.
      const isComplete = (await sync.status()).inStepAsOf?.getTime() !== inStepAsOf?.getTime();
      if (isComplete) expect(left).toEqual(contentOf(rows));
      else expect(left).toEqual(expect.arrayContaining(contentOf(stored)));
      const { read, written, unchanged, deleted } = await sync.once();
      expect({ read, records: written + unchanged }).toEqual({ read: rows.size, records: rows.size });
      // What was committed before the kill is not written again.
      if (isFirst) expect(unchanged).toBe(left.length);
      const missing = left.filter((key) => !rows.has(key.slice('shop/'.length)));
      expect(deleted).toBe(missing.length);
      expect(await keys()).toEqual(contentOf(rows));
      for await (const { key, data } of facts.queryAll()) {
        expect(data).toEqual(rows.get(key!.slice('shop/'.length)));
      }
      expect(await sync.once()).toMatchObject({ written: 0, deleted: 0, unchanged: rows.size });
      stored = new Map(rows);
      ({ inStepAsOf } = await sync.status());
      await cosift.close();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
