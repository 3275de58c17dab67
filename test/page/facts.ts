import { readFileSync } from 'node:fs';
import { LINES_TYPE, type Service } from '../server/service.js';

const FACTS = readFileSync(new URL('../../demo/facts.ndjson', import.meta.url), 'utf8');

/** The facts with their vectors, which are made once in a process. */
let embedded: Promise<string> | undefined;

/** Stores the demo facts in a new database. */
export async function storeFacts(service: Service, database: string, settings: object = {}): Promise<void> {
  await service.call('PUT', `/v1/databases/${database}`, settings);
  const isFirst = embedded === undefined;
  const lines = isFirst ? FACTS : await embedded;
  await service.call('POST', `/v1/databases/${database}/records`, lines, LINES_TYPE);
  if (isFirst) embedded = withVectors(service, database);
  await embedded;
}

async function withVectors(service: Service, database: string): Promise<string> {
  const { text } = await service.call('GET', `/v1/databases/${database}/export?vectors=true`);
  // The times are those of each database.
  return text.replaceAll(/,"timestamps":\{[^}]*\}/g, '');
}
