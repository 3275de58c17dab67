import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { CosiftError } from '../../errors.js';
import { count } from '../../schema/plain.js';
import type { Manifest } from '../../store/archive/index.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { warn } from '../failure.js';
import { table } from '../table.js';
import { missingModels } from './missing-models.js';
import { restore } from './restore.js';

export interface RestoreOptions {
  data: string;
  models?: Record<string, string>;
}

/** Restores the archive in a file, or in standard input for `-`. Sets the exit code. */
export async function restoreFile(file: string, { data, models }: RestoreOptions): Promise<void> {
  const signal = abortOnSignal();
  // Before the directory is made.
  const chunks = file === '-' ? process.stdin : await openArchive(file);
  let manifest: Manifest;
  try {
    manifest = await restore(chunks, path.resolve(data), signal);
  } catch (error) {
    return endStopped(signal, explained(file, error), `nothing was restored into ${data}`);
  }
  await print(manifest, data, models);
}

async function openArchive(file: string): Promise<Readable> {
  const handle = await open(file, 'r');
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw new Error(`${file} is a directory: give the name of an archive`);
  }
  return handle.createReadStream({ highWaterMark: 1 << 18 });
}

function explained(file: string, error: unknown): unknown {
  if (!(error instanceof CosiftError) || error.code !== 'damaged') return error;
  const name = file === '-' ? 'standard input' : file;
  return new CosiftError('damaged', `${name} was not restored: ${error.detail}`, { cause: error });
}

async function print(manifest: Manifest, data: string, models: RestoreOptions['models']): Promise<void> {
  const { databases, files, created_at } = manifest;
  const rows = databases.map(({ id, records, model }) => [id, count(records), model ?? 'own vectors']);
  if (rows.length > 0) console.log(table(['database', 'records', 'model'], rows, Number.POSITIVE_INFINITY));
  const others = files.filter(({ path }) => !path.includes('/')).map(({ path }) => path);
  const stores = databases.length === 1 ? '1 database' : `${count(databases.length)} databases`;
  const what = [stores, ...others].join(', ');
  console.log(`restored into ${data}: ${what}, as of ${created_at}`);
  for (const problem of await missingModels(databases, models)) warn(problem);
}
