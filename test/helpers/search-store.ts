import type { Stoppable } from '../../src/async/stoppable.js';
import { CosiftError } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import type {
  RecordStore,
  SearchVector,
  StorePage,
  StoreSearchRequest,
} from '../../src/store/record-store.js';

/** Runs one search of a store. */
export async function searchStore(
  store: Pick<RecordStore, 'searches'>,
  id: string,
  request: Omit<StoreSearchRequest, 'page_bytes'> & { page_bytes?: number },
  vector: SearchVector,
  stoppable: Stoppable = {},
): Promise<StorePage> {
  const search = { request: { page_bytes: LIMITS.page_bytes, ...request }, vector };
  const { pages, searchMs } = await store.searches(id, [search], stoppable);
  const [body] = pages as [Uint8Array | CosiftError];
  if (body instanceof CosiftError) throw body;
  return { body, searchMs };
}
