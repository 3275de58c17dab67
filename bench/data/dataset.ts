import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH_DIRECTORY } from '../paths.js';
import { type Columns, makeColumns } from './columns.js';
import { shapeOf, VectorSource } from './vectors.js';

/** A database for the bench, with queries. Vector i belongs to the record with id i + 1. */
export interface Dataset extends DatasetKey {
  readonly name: string;
  /** `records` x `dimensions`, unit length. */
  readonly vectors: Float32Array;
  readonly columns: Columns;
  /** QUERIES x `dimensions`. No query is the vector of a record. */
  readonly queries: Float32Array;
}

/** Identifies a dataset. */
export interface DatasetKey {
  /** Source of real vectors; absent: made from the seed. Columns are always made from the seed. */
  readonly source?: 'debian';
  readonly records: number;
  readonly dimensions: number;
  readonly seed: number;
}

/** Number of queries of each dataset. */
export const QUERIES = 64;
/** Minimum score of every search. */
export const THRESHOLD = 0.2;
/** The seed of every published figure. */
export const SEED = 20_261_121;

const CHUNK_RECORDS = 4_096;

/** Directory of generated files. It can be deleted at any time. */
export const CACHE_DIRECTORY = join(BENCH_DIRECTORY, 'cache');

/** Name of a dataset and of its files. */
export function nameOf({ source, records, dimensions, seed }: DatasetKey): string {
  return `${source ?? 'synthetic'}-${records}x${dimensions}-seed${seed}`;
}

/** Reads a dataset from the cache, and first makes it if necessary. With `vectors: false`, `vectors` is empty. */
export function openDataset(key: DatasetKey, options: { vectors: boolean } = { vectors: true }): Dataset {
  const { records, dimensions, seed } = key;
  const name = nameOf(key);
  const path = join(CACHE_DIRECTORY, `${name}.f32`);
  if (!existsSync(path) && key.source === undefined) makeVectors(key, path);
  const file = openSync(path, 'r');
  const vectors = readFloats(file, 0, options.vectors ? records * dimensions : 0);
  const queries = readFloats(file, records * dimensions * 4, QUERIES * dimensions);
  closeSync(file);
  return { ...key, name, vectors, columns: makeColumns(records, seed), queries };
}

/** The vector of query `q`. */
export function queryOf(dataset: Dataset, q: number): Float32Array {
  return dataset.queries.subarray(q * dataset.dimensions, (q + 1) * dataset.dimensions);
}

function makeVectors(key: DatasetKey, path: string): void {
  const { records, dimensions } = key;
  mkdirSync(CACHE_DIRECTORY, { recursive: true });
  const source = new VectorSource(shapeOf(key));
  const unfinished = `${path}.${process.pid}`;
  const file = openSync(unfinished, 'w');
  const chunk = new Float32Array(CHUNK_RECORDS * dimensions);
  for (let start = 0; start < records; start += CHUNK_RECORDS) {
    const rows = Math.min(CHUNK_RECORDS, records - start);
    for (let i = 0; i < rows; i++) source.record(chunk.subarray(i * dimensions, (i + 1) * dimensions));
    writeFloats(file, chunk.subarray(0, rows * dimensions));
  }
  const queries = new Float32Array(QUERIES * dimensions);
  for (let q = 0; q < QUERIES; q++) source.query(queries.subarray(q * dimensions, (q + 1) * dimensions));
  writeFloats(file, queries);
  closeSync(file);
  renameSync(unfinished, path);
}

function writeFloats(file: number, values: Float32Array): void {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function readFloats(file: number, position: number, count: number): Float32Array {
  const values = new Float32Array(count);
  const bytes = Buffer.from(values.buffer);
  for (let at = 0; at < bytes.length; ) {
    // A read of 2 GiB or more fails on Linux.
    const read = readSync(file, bytes, at, Math.min(bytes.length - at, 1 << 28), position + at);
    if (read === 0) throw new Error('the cached dataset is cut off; delete bench/cache');
    at += read;
  }
  return values;
}
