import { Client, CosiftError } from '@cosift/client';

const client: Client = new Client({ url: 'http://127.0.0.1:8080', key: 'key' });
const { results } = await client.database('facts').search('a tall building');
export const score: number | undefined = results[0]?.relevance_score;
export const isBusy = (error: unknown): boolean => error instanceof CosiftError && error.code === 'busy';
