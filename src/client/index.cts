/** The client for `require`. */
import type * as esm from './index.js' with { 'resolution-mode': 'import' };
import * as client from './index.js';

export type * from './index.js' with { 'resolution-mode': 'import' };

export const Client: typeof esm.Client = client.Client;
export type Client = esm.Client;
export const CosiftError: typeof esm.CosiftError = client.CosiftError;
export type CosiftError = esm.CosiftError;
