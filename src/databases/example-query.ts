import { createHash } from 'node:crypto';
import type { Stoppable } from '../async/stoppable.js';
import type { LikeSearch } from '../schema/index.js';
import type { Dependencies } from './dependencies.js';
import type { ScopedOptions } from './scope.js';

/** Separates the position of a cursor from the query of its pages. No position has it. */
const SEPARATOR = '~';

/** Bytes of the hash by which a cursor tells which examples its query was made from. */
const HASH_BYTES = 16;

/** Steps of the components of a unit vector from 0 to 1. They are exact in a cursor. */
const STEPS = 2 ** 30;

/** What a search by examples asks the store for. */
export interface ExampleQuery {
  vector: Float64Array;
  fingerprint: string | null;
  /** The integer ids of the examples, which are no results. */
  excluded: number[];
  /** What the cursor of the next page ends with. */
  cursor_suffix: string;
}

/** Returns the position that a cursor holds, without the query that one of a search by examples also holds. */
export function positionOf(cursor: string | undefined): string | undefined {
  return cursor?.split(SEPARATOR, 1)[0];
}

/**
 * Returns the query of a search by examples.
 *
 * A cursor holds the query of the first page, and the further pages are of the same query, whatever happens to the
 * examples meanwhile. With other examples, or after a switch to another model, the query is that of the request.
 */
export async function exampleQuery(
  { store, infos, turns }: Pick<Dependencies, 'store' | 'infos' | 'turns'>,
  id: string,
  { like, cursor }: { like: LikeSearch['like']; cursor: string | undefined },
  options: ScopedOptions & Stoppable,
): Promise<ExampleQuery> {
  const { fingerprint, dimensions } = await infos.get(id);
  const hash = hashOf(like, fingerprint);
  const first = queryIn(cursor, hash, dimensions);
  const request = {
    ...like,
    query: first === undefined,
    forced_filter: options.scope?.forcedFilter,
    embedded_by: fingerprint,
  };
  const read = () => store.examples(id, request);
  const { ids, vector } = await turns.run(id, options.scope?.caller, read, options);
  const query = first ?? vector;
  return { vector: query, fingerprint, excluded: ids, cursor_suffix: suffixOf(hash, query) };
}

function hashOf({ positive, negative = [] }: LikeSearch['like'], fingerprint: string | null): Buffer {
  const examples = JSON.stringify([positive, negative, fingerprint]);
  return createHash('sha256').update(examples).digest().subarray(0, HASH_BYTES);
}

function suffixOf(hash: Buffer, vector: Float64Array): string {
  const steps = Int32Array.from(vector, (component) => component * STEPS);
  return SEPARATOR + Buffer.concat([hash, Buffer.from(steps.buffer)]).toString('base64url');
}

/** The query that a cursor holds, if it was made from these examples. */
function queryIn(cursor: string | undefined, hash: Buffer, dimensions: number): Float64Array | undefined {
  const bytes = Buffer.from(cursor?.split(SEPARATOR, 2)[1] ?? '', 'base64url');
  const components = bytes.subarray(HASH_BYTES);
  if (!bytes.subarray(0, HASH_BYTES).equals(hash) || components.length !== 4 * dimensions) return undefined;
  return Float64Array.from({ length: dimensions }, (_, at) => components.readInt32LE(4 * at) / STEPS);
}
