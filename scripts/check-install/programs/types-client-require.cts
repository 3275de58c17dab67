import { type Client, CosiftError } from '@cosift/client';

import required = require('@cosift/client');

export async function search(client: Client): Promise<number> {
  const { results } = await client.database('facts').search('a tall building');
  return results.length;
}
export const client: required.Client = new required.Client({ url: 'http://127.0.0.1:8080', key: 'key' });
export const isBusy = (error: unknown): boolean => error instanceof CosiftError && error.code === 'busy';
