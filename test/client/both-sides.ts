import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Databases } from '../../src/api/index.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { Service } from '../server/service.js';

/** The library and a client of a service under the names `library` and `client`, for the tests of a file. */
export function bothSides(): ReadonlyMap<string, Databases> {
  const sides = new Map<string, Databases>();
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'cosift-sides-'));
    const service = await Service.start();
    const library = await open(directory);
    sides.set('library', library).set('client', new Client({ url: service.url, key: service.adminKey }));
    ends.push(
      () => library.close(),
      () => service.stop(),
      () => rm(directory, { recursive: true, force: true }),
    );
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return sides;
}
