import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { KEY, serve, temporaryDirectory } from '../helpers/processes.js';

const ROUNDS = inFull(4, 1);
const RECORDS = 8;

const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };

test('a server killed in the middle of patches has each patch that it acknowledged, and no half of one', async () => {
  const data = await temporaryDirectory();
  const send = async (url: string, method: string, path: string, body?: object) => {
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/v1/databases/d${path}`, { method, headers: HEADERS, ...payload });
    expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
    return (await response.json()) as { data: { a: number; b: number; kept: string } };
  };
  const ids = Array.from({ length: RECORDS }, (_, at) => at + 1);
  /** The last patch of each record that was sent, and the last that was acknowledged. */
  const sent = new Map(ids.map((id) => [id, 0]));
  const acknowledged = new Map(sent);

  const check = async (url: string) => {
    for (const id of ids) {
      const { data } = await send(url, 'GET', `/records/${id}`);
      expect(data).toEqual({ a: data.a, b: data.a, kept: `kept ${id}` });
      expect(data.a).toBeGreaterThanOrEqual(acknowledged.get(id)!);
      expect(data.a).toBeLessThanOrEqual(sent.get(id)!);
    }
  };

  for (let round = 0; round < ROUNDS; round++) {
    const { command, url } = await serve(data);
    if (round === 0) {
      await send(url, 'PUT', '', { dimensions: 4 });
      const records = ids.map((id) => ({
        id,
        data: { a: 0, b: 0, kept: `kept ${id}` },
        vector: [1, id, 0, 0],
      }));
      await send(url, 'POST', '/records', { records });
    }
    await check(url);

    let count = 0;
    let killed = false;
    const patchOn = async (id: number) => {
      for (let n = sent.get(id)! + 1; ; n++) {
        sent.set(id, n);
        try {
          const { data } = await send(url, 'PATCH', `/records/${id}`, { data: { a: n, b: n } });
          expect(data).toEqual({ a: n, b: n, kept: `kept ${id}` });
        } catch (error) {
          if (killed) return;
          throw error;
        }
        acknowledged.set(id, n);
        count += 1;
        // Later each round: the kill meets another state of the store.
        if (count === 40 * (round + 1)) {
          killed = true;
          command.child.kill('SIGKILL');
        }
      }
    };
    await Promise.all(ids.map(patchOn));
    expect(await command.ended()).toBe('SIGKILL');
  }
  const { url } = await serve(data);
  await check(url);
});
