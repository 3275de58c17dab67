import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isEndpoint } from '../../config/index.js';
import { isDirectory, isModelName, keptModelsPath } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { BUILT_IN_MODEL, type DatabaseDescription } from '../../schema/index.js';
import { describe, printable } from '../failure.js';
import { table } from '../table.js';
import { openTarget, type TargetOptions } from '../target.js';
import { checkEmbedding, modelSourcesOf, readModel, sourceOf, verified } from './known-model.js';

export interface AddOptions extends TargetOptions {
  name?: string;
}

export async function list(options: TargetOptions): Promise<void> {
  const databases = await databasesOf(options);
  const models = options.url === undefined ? Object.entries(modelSourcesOf(options)) : [];
  const rows: string[][] = [];
  for (const [name, source] of models) {
    if (isEndpoint(source)) {
      // Not asked, because a list must not depend on the network.
      rows.push([name, '', '', '', 'not read', usersOf(name, databases), source]);
      continue;
    }
    try {
      const { dimensions, maxTokens, bytes, fingerprint } = await readModel(name, source);
      const size = `${(bytes / 1e6).toFixed(1)} MB`;
      rows.push([
        name,
        `${dimensions}`,
        `${maxTokens}`,
        size,
        short(fingerprint),
        usersOf(name, databases),
        source,
      ]);
    } catch (error) {
      rows.push([name, '', '', '', 'not usable', usersOf(name, databases), source]);
      process.exitCode = 1;
      process.stderr.write(`${printable(describe(error))}\n`);
    }
  }
  for (const { model, dimensions, fingerprint } of databases) {
    if (model === null || rows.some(([name]) => name === model)) continue;
    const state = options.url === undefined ? 'not found' : short(String(fingerprint));
    rows.push([model, `${dimensions}`, '', '', state, usersOf(model, databases), '']);
  }
  const header = ['model', 'dimensions', 'tokens', 'size', 'fingerprint', 'databases', 'source'];
  console.log(table(header, rows, Number.POSITIVE_INFINITY));
}

export async function verify(name: string | undefined, options: TargetOptions): Promise<void> {
  if (options.url !== undefined) {
    throw new CosiftError(
      'invalid_request',
      'a server does not give out the files of its models: verify on its machine',
    );
  }
  const sources = modelSourcesOf(options);
  const databases = await databasesOf(options);
  const used = databases.flatMap(({ model }) => model ?? []);
  for (const model of name === undefined ? new Set([...Object.keys(sources), ...used]) : [name]) {
    try {
      const known = await verified(model, sourceOf(model, sources));
      for (const { id, fingerprint } of databases.filter((database) => database.model === model)) {
        if (fingerprint === known.fingerprint) continue;
        const fix = `bring that one back, or run: cosift reembed ${id} --model ${model}`;
        throw new CosiftError('model_mismatch', `database "${id}" was embedded with another version: ${fix}`);
      }
      console.log(`ok       ${model}  ${known.dimensions} dimensions, fingerprint ${known.fingerprint}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`problem  ${model}  ${printable(describe(error))}`);
    }
  }
}

export async function add(from: string, options: AddOptions): Promise<void> {
  if (options.url !== undefined) {
    throw new CosiftError(
      'invalid_request',
      'a model is added to a directory: run the command on the machine of the server',
    );
  }
  if (!isDirectory(from)) throw new CosiftError('invalid_request', `there is no directory ${from}`);
  const name = options.name ?? path.basename(path.resolve(from));
  if (!isModelName(name) || name === BUILT_IN_MODEL) {
    const rule = 'other than that of the built-in model, of 1 to 64 letters, digits, . _ and -';
    throw new CosiftError('invalid_request', `"${name}" cannot be the name of a model: give --name, ${rule}`);
  }
  const parent = keptModelsPath(options.data);
  const target = path.join(parent, name);
  // A database whose model changed would refuse all searches.
  if (isDirectory(target)) {
    throw new CosiftError('invalid_request', `there is a model "${name}": add this one by another --name`);
  }
  const model = await readModel(name, from);
  await checkEmbedding(model);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  // The name of a temporary directory begins with a dot, so that it is no model.
  const copy = await mkdtemp(path.join(parent, '.new-'));
  try {
    await cp(from, copy, { recursive: true, dereference: true });
    await rename(copy, target);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
  console.log(
    `added ${name} (${model.dimensions} dimensions) as ${target}; a running server finds it after a restart`,
  );
}

/** Describes the databases. A data directory that is missing has none, and is not created. */
async function databasesOf(options: TargetOptions): Promise<DatabaseDescription[]> {
  if (
    options.url === undefined &&
    options.store === undefined &&
    !isDirectory(path.join(options.data, 'databases'))
  )
    return [];
  await using target = await openTarget(options);
  return await target.databases();
}

function usersOf(model: string, databases: readonly DatabaseDescription[]): string {
  return databases.flatMap((database) => (database.model === model ? database.id : [])).join(',');
}

/** Enough of a fingerprint to compare models by eye; `model verify` prints it whole. */
function short(fingerprint: string): string {
  return fingerprint.slice(0, 12);
}
