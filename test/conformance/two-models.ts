import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { firstTokenModel } from '../helpers/model-variant.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

/** A search that every record with a vector matches. */
export const SEARCH = { search: { text: 'music in the mountains', threshold: 0 } };

/** The service of the current `describe` block, with the built-in model and one called `other`. */
export function withTwoModels(open: OpenDatabases): SharedDatabases {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-models-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  return SharedDatabases.use(open, {
    models: { other: firstTokenModel(path.join(directory, 'other')) },
  });
}

/** The ids and scores of all records, which differ between the models. */
export async function scores(database: TestDatabase): Promise<unknown[]> {
  return (await database.drain('search', SEARCH)).map(({ id, relevance_score }) => [id, relevance_score]);
}
