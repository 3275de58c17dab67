/** cosift for `require`: the same library, loaded when it is first opened. */
import type * as library from './index.js' with { 'resolution-mode': 'import' };

export type * from './index.js' with { 'resolution-mode': 'import' };

/** Opens a data directory; see `open` of the library. Errors have a `code`. */
export async function open(...args: Parameters<typeof library.open>): Promise<library.Cosift> {
  const { open } = await import('./index.js');
  return open(...args);
}
