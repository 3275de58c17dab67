import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Backend } from '../backend/index.js';

export const DEMO_DATABASE = 'demo';

const FACTS = new URL('../../demo/facts.ndjson', import.meta.url);

/**
 * Stores the demo facts, once for each version of them: a note in the data directory tells. So a later start
 * is quick, and a demo database that was dropped stays dropped.
 */
export async function ensureDemo(backend: Backend, data: string): Promise<void> {
  const facts = await readFile(FACTS);
  const version = createHash('sha256').update(facts).digest('hex');
  const note = path.join(data, 'demo.sha256');
  if ((await readFile(note, 'utf8').catch(() => '')) === version) return;
  console.log('storing the demo database (a few seconds, once)');
  await backend.createDatabase(DEMO_DATABASE, {});
  for await (const event of backend.upsertLines(DEMO_DATABASE, one(facts))) {
    if (event.type === 'problem') throw new Error(`demo fact ${event.line}: ${event.detail}`);
  }
  await writeFile(note, version);
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
