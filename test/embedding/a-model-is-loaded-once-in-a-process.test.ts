import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createEmbedder } from '../../src/embedding/index.js';

/** The threads of this process, of which each worker is one. */
const threads = () => readdirSync('/proc/self/task').length;

/** A number of workers that no other file of tests asks for. */
const OPTIONS = { workers: 3 };

test.skipIf(process.platform !== 'linux')(
  'a model is loaded once, until its last user has closed it',
  async () => {
    const first = await createEmbedder(OPTIONS);
    const loaded = threads();
    const others = await Promise.all([createEmbedder(OPTIONS), createEmbedder(OPTIONS)]);
    expect(threads()).toBe(loaded);
    const vector = await first.embedQuery('a tower');
    await first.close();
    await first.close();
    expect(await others[0].embedQuery('a tower')).toEqual(vector);
    expect(threads()).toBe(loaded);
    await others[0].close();
    await expect(first.embedQuery('a river')).rejects.toMatchObject({ code: 'stopped' });
    expect(await others[1].embedQuery('a tower')).toEqual(vector);
    await others[1].close();
    await expect.poll(threads).toBe(loaded - 1);
    const again = await createEmbedder(OPTIONS);
    expect(await again.embedQuery('a tower')).toEqual(vector);
    await again.close();
  },
);
