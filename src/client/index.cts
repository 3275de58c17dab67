/** The client for `require`. */
import type * as esm from './index.js' with { 'resolution-mode': 'import' };
import * as client from './index.js';

export type * from './index.js' with { 'resolution-mode': 'import' };

export const Client: typeof esm.Client = client.Client;
export type Client = esm.Client;
export const CosiftError: typeof esm.CosiftError = client.CosiftError;
export type CosiftError = esm.CosiftError;
export const and: typeof esm.and = client.and;
export const or: typeof esm.or = client.or;
export const equals: typeof esm.equals = client.equals;
export const notEquals: typeof esm.notEquals = client.notEquals;
export const greaterThan: typeof esm.greaterThan = client.greaterThan;
export const lessThan: typeof esm.lessThan = client.lessThan;
export const greaterThanOrEquals: typeof esm.greaterThanOrEquals = client.greaterThanOrEquals;
export const lessThanOrEquals: typeof esm.lessThanOrEquals = client.lessThanOrEquals;
export const contains: typeof esm.contains = client.contains;
export const notContains: typeof esm.notContains = client.notContains;
export const startsWith: typeof esm.startsWith = client.startsWith;
export const endsWith: typeof esm.endsWith = client.endsWith;
export const isEmpty: typeof esm.isEmpty = client.isEmpty;
export const isNotEmpty: typeof esm.isNotEmpty = client.isNotEmpty;
export const isIn: typeof esm.isIn = client.isIn;
export const isNotIn: typeof esm.isNotIn = client.isNotIn;
export const before: typeof esm.before = client.before;
export const after: typeof esm.after = client.after;
export const onOrBefore: typeof esm.onOrBefore = client.onOrBefore;
export const onOrAfter: typeof esm.onOrAfter = client.onOrAfter;
