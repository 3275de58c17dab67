import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseService } from '../databases/index.js';
import { isCode } from '../errors.js';
import { packageFile } from '../platform/package.js';

export const DEMO_DATABASE = 'demo';

const FACTS = packageFile('demo/facts.ndjson');

/**
 * Stores the demo facts, once for each version of the facts. A file in the data directory holds the stored version, so
 * that a later start is fast, and a demo database that was dropped is not created again.
 */
export async function ensureDemo(databases: DatabaseService, data: string): Promise<void> {
  const facts = await readFile(FACTS);
  const version = createHash('sha256').update(facts).digest('hex');
  const marker = path.join(data, 'demo.sha256');
  if ((await readFile(marker, 'utf8').catch(() => '')) === version) return;
  console.log('storing the demo database (a few seconds, once)');
  await databases.catalog.check(DEMO_DATABASE).catch(async (error) => {
    if (!isCode(error, 'database_not_found')) throw error;
    // With the words, so that the page shows their weight.
    await databases.catalog.create(DEMO_DATABASE, { lexical: true });
  });
  for await (const event of databases.writer.upsertLines(DEMO_DATABASE, chunksOf(facts))) {
    if (event.type === 'problem') throw new Error(`demo fact ${event.line}: ${event.detail}`);
  }
  await writeFile(marker, version);
}

async function* chunksOf(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
