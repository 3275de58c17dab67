import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const ROUNDS = inFull(4, 1);
const A_ROUND = 4_000;

test('a server killed in the middle of an import has all that it said was committed', async () => {
  const data = await temporaryDirectory();
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { command, url } = await serve(data);
    if (round === 0) {
      const made = await fetch(`${url}/v1/databases/d`, {
        method: 'PUT',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: '{"dimensions":4}',
      });
      expect(made.status).toBe(201);
    }
    expect(await idsOf(url)).toEqual(expect.arrayContaining(range(acknowledged)));

    const upload = request(`${url}/v1/databases/d/records`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/x-ndjson' },
    });
    upload.on('error', () => undefined);
    const first = acknowledged + 1;
    // Never ended: the kill comes while the server waits for more, or works on what it has.
    upload.write(lines(first, first + A_ROUND));
    const before = acknowledged;
    await new Promise<void>((resolve, reject) => {
      upload.on('response', (answer) => {
        answer.on('error', () => undefined);
        const events = createInterface({ input: answer });
        // The kill cuts the answer off, too.
        events.on('error', () => undefined);
        events.on('line', (text) => {
          const event = JSON.parse(text) as { type: string; committed: number };
          if (event.type !== 'progress') return reject(new Error(text));
          acknowledged = before + event.committed;
          // Later each round: the kill meets another state of the store.
          if (event.committed > round * 256) {
            command.child.kill('SIGKILL');
            resolve();
          }
        });
      });
    });
    expect(await command.ended()).toBe('SIGKILL');
  }
  expect(acknowledged).toBeGreaterThan(0);
  const { url } = await serve(data);
  expect(await idsOf(url)).toEqual(expect.arrayContaining(range(acknowledged)));
});

function range(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

/** Ids of every record that a search can find, page by page. */
async function idsOf(url: string): Promise<number[]> {
  const ids: number[] = [];
  let cursor: string | undefined;
  do {
    const answer = await fetch(`${url}/v1/databases/d/search`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        search: { vector: [0, 0, 0, 1], threshold: 0 },
        pagination: { limit: 100, ...(cursor !== undefined && { cursor }) },
      }),
    });
    const page = (await answer.json()) as {
      results: { id: number }[];
      pagination: { next_cursor?: string };
    };
    ids.push(...page.results.map(({ id }) => id));
    cursor = page.pagination.next_cursor;
  } while (cursor !== undefined);
  expect(new Set(ids).size).toBe(ids.length);
  return ids;
}
