import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Database, Databases } from '../../api/index.js';
import type { LineChunks } from '../../api/line-chunks.js';
import { isCode } from '../../errors.js';
import { generatedLines } from './generated-records.js';

/** Rates of imports, in records per second. */
export interface ImportRates {
  records: number;
  embedding_per_second: number;
  /** The same records with their vectors, read from an export. */
  with_vectors_per_second: number;
}

/** Makes a directory that is removed when the process ends, even by a second Ctrl-C. */
export function makeTemporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An id that no other database has: a store may have databases of its own. */
export function newGeneratedId(): string {
  return `bench-${randomUUID()}`;
}

/** Removes the databases of {@link importGenerated}, as far as they were created. */
export async function dropGenerated(databases: Databases, id: string): Promise<void> {
  for (const generated of [id, copyOf(id)]) {
    await databases
      .database(generated)
      .drop()
      .catch((error) => {
        if (!isCode(error, 'database_not_found')) throw error;
      });
  }
}

function copyOf(id: string): string {
  return `${id}-copy`;
}

/** Fills a new database with generated records, copies it, and returns how fast that was. */
export async function importGenerated(
  databases: Databases,
  id: string,
  { records, seed, signal }: { records: number; seed: number; signal: AbortSignal },
): Promise<ImportRates> {
  const database = await databases.createDatabase(id);
  // The model is loaded by the first search, so that the rate does not depend on that.
  await database.search('load the model', { signal });
  const embedding = await rateOf(database, generatedLines(records, seed), records, signal);
  const copy = await databases.createDatabase(copyOf(id));
  const withVectors = await rateOf(copy, database.exportLines({ vectors: true, signal }), records, signal);
  await copy.drop();
  return { records, embedding_per_second: embedding, with_vectors_per_second: withVectors };
}

async function rateOf(
  database: Database,
  lines: LineChunks,
  records: number,
  signal: AbortSignal,
): Promise<number> {
  const begin = performance.now();
  for await (const event of database.upsertLines(lines, { signal })) {
    if (event.type === 'problem') throw new Error(`generated record: ${event.detail}`);
  }
  return Math.round((records * 1000) / (performance.now() - begin));
}
