/** cosift for `require`: the same library, loaded when it is first opened. */
import * as api from './api/index.js';
import type * as esm from './index.js' with { 'resolution-mode': 'import' };

export type * from './index.js' with { 'resolution-mode': 'import' };

export const CosiftError: typeof esm.CosiftError = api.CosiftError;
export type CosiftError = esm.CosiftError;
export const and: typeof esm.and = api.and;
export const or: typeof esm.or = api.or;
export const equals: typeof esm.equals = api.equals;
export const notEquals: typeof esm.notEquals = api.notEquals;
export const greaterThan: typeof esm.greaterThan = api.greaterThan;
export const lessThan: typeof esm.lessThan = api.lessThan;
export const greaterThanOrEquals: typeof esm.greaterThanOrEquals = api.greaterThanOrEquals;
export const lessThanOrEquals: typeof esm.lessThanOrEquals = api.lessThanOrEquals;
export const contains: typeof esm.contains = api.contains;
export const notContains: typeof esm.notContains = api.notContains;
export const startsWith: typeof esm.startsWith = api.startsWith;
export const endsWith: typeof esm.endsWith = api.endsWith;
export const isEmpty: typeof esm.isEmpty = api.isEmpty;
export const isNotEmpty: typeof esm.isNotEmpty = api.isNotEmpty;
export const isIn: typeof esm.isIn = api.isIn;
export const isNotIn: typeof esm.isNotIn = api.isNotIn;
export const before: typeof esm.before = api.before;
export const after: typeof esm.after = api.after;
export const onOrBefore: typeof esm.onOrBefore = api.onOrBefore;
export const onOrAfter: typeof esm.onOrAfter = api.onOrAfter;

/** Opens a data directory; see `open` of the library. */
export async function open(...args: Parameters<typeof esm.open>): Promise<esm.Cosift> {
  const library = await import('./index.js');
  return library.open(...args);
}
