/** The types of requests and responses, without the schemas: what a program needs that uses the library or the client. */
export type * from './columns.js';
export type { Action } from './keys.js';
export type * from './types/filter.js';
export type * from './types/requests.js';
export type * from './types/responses.js';
export type { LineEvent } from './upsert-stream.js';
