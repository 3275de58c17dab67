/** cosift for `require`: the same library, loaded when it is first opened. */
import * as api from './api/index.js';
import type * as esm from './index.js' with { 'resolution-mode': 'import' };

export type * from './index.js' with { 'resolution-mode': 'import' };

export const CosiftError: typeof esm.CosiftError = api.CosiftError;
export type CosiftError = esm.CosiftError;

/** Opens a data directory; see `open` of the library. */
export async function open(...args: Parameters<typeof esm.open>): Promise<esm.Cosift> {
  const library = await import('./index.js');
  return library.open(...args);
}
