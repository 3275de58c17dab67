import type { CosiftError } from '../../errors.js';
import { native } from './binding.js';
import { errorOf } from './outcome.js';

/**
 * What keeps bytes from being strict JSON, if anything: UTF-8, no duplicate keys, no lone surrogates, numbers that a
 * double holds, at most `maxDepth` arrays and objects deep.
 */
export function checkJson(body: Uint8Array, maxDepth: number): CosiftError | undefined {
  const failure = native.checkJson(body, maxDepth);
  return failure === null ? undefined : errorOf(failure);
}

/** The instruction set that scans use on this machine. */
export function kernelName(): string {
  return native.kernelName();
}

/** The version of the SQLite inside. */
export function sqliteVersion(): string {
  return native.sqliteVersion();
}
