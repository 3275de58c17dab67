import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import type { Stoppable } from '../async/stoppable.js';
import { CosiftError } from '../errors.js';
import type { LikeSearch } from '../schema/index.js';
import type { Dependencies } from './dependencies.js';
import type { ScopedOptions } from './scope.js';

/** Separates the position of a cursor from the sealed query of its pages. No position has it. */
const SEPARATOR = '~';

/** Bytes of the hash by which a cursor tells which examples its query was made from. */
const HASH_BYTES = 16;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Steps of the components of a unit vector from 0 to 1. They are exact in a cursor. */
const STEPS = 2 ** 30;

/** What a search by examples asks the store for. */
export interface ExampleQuery {
  vector: Float64Array;
  fingerprint: string | null;
  /** The integer ids of the examples, which are no results. */
  excluded: number[];
  /** The position after which the page begins. */
  cursor: string | undefined;
  /** What the cursor of the next page ends with. */
  cursor_suffix: string;
}

/**
 * Returns the query of a search by examples.
 *
 * A cursor holds the query of the first page, and the further pages are of the same query, whatever happens to the
 * examples meanwhile. With other examples, or after a switch to another model, the query is that of the request. The query
 * in a cursor is sealed, because it tells the vectors of records to callers that may only search.
 *
 * @throws {CosiftError} `invalid_cursor` for a cursor that was changed, or is of another database; as `store.examples`.
 */
export async function exampleQuery(
  { store, infos, turns }: Pick<Dependencies, 'store' | 'infos' | 'turns'>,
  id: string,
  { like, cursor }: { like: LikeSearch['like']; cursor: string | undefined },
  options: ScopedOptions & Stoppable,
): Promise<ExampleQuery> {
  const { fingerprint } = await infos.get(id);
  const hash = hashOf(like, fingerprint);
  const [position, suffix] = cursor?.split(SEPARATOR, 2) ?? [];
  const sealed = suffix === undefined ? undefined : Buffer.from(suffix, 'base64url');
  const isOfThese = sealed?.subarray(0, HASH_BYTES).equals(hash) === true;
  const request = {
    ...like,
    query: !isOfThese,
    forced_filter: options.scope?.forcedFilter,
    embedded_by: fingerprint,
  };
  const read = () => store.examples(id, request);
  const { ids, vector, epoch } = await turns.run(id, options.scope?.caller, read, options);
  const key = Buffer.from(hkdfSync('sha256', epoch, '', 'query in a cursor', 32));
  const query = isOfThese ? unseal(sealed, key, hash) : vector;
  const cursor_suffix = SEPARATOR + seal(query, key, hash).toString('base64url');
  return { vector: query, fingerprint, excluded: ids, cursor: position, cursor_suffix };
}

function hashOf({ positive, negative = [] }: LikeSearch['like'], fingerprint: string | null): Buffer {
  const examples = JSON.stringify([positive, negative, fingerprint]);
  return createHash('sha256').update(examples).digest().subarray(0, HASH_BYTES);
}

function seal(vector: Float64Array, key: Buffer, hash: Buffer): Buffer {
  const steps = Buffer.alloc(4 * vector.length);
  for (const [at, component] of vector.entries()) steps.writeInt32LE(component * STEPS, 4 * at);
  // Equal queries get equal cursors, and no two queries the same nonce.
  const nonce = createHmac('sha256', key).update(hash).update(steps).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(hash);
  return Buffer.concat([hash, nonce, cipher.update(steps), cipher.final(), cipher.getAuthTag()]);
}

function unseal(sealed: Buffer, key: Buffer, hash: Buffer): Float64Array {
  const start = HASH_BYTES + NONCE_BYTES;
  const end = Math.max(start, sealed.length - TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(HASH_BYTES, start), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(hash).setAuthTag(sealed.subarray(end));
    const steps = Buffer.concat([decipher.update(sealed.subarray(start, end)), decipher.final()]);
    return Float64Array.from({ length: steps.length / 4 }, (_, at) => steps.readInt32LE(4 * at) / STEPS);
  } catch (cause) {
    const detail = 'was changed, or is of another database';
    const problem = { pointer: '/pagination/cursor', code: 'invalid_value', detail } as const;
    throw new CosiftError('invalid_cursor', `/pagination/cursor: ${detail}`, { problems: [problem], cause });
  }
}
