import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Refuses the first request of each method and path as busy, with the answer of `refusals` in turn. */
async function busyProxy(target: string, refusals: { status: number; body: string }[]): Promise<string> {
  const seen = new Set<string>();
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const name = `${method} ${url?.split('?')[0]}`;
    const refusal = seen.has(name) ? undefined : refusals.shift();
    seen.add(name);
    if (refusal !== undefined) {
      incoming.resume();
      response.writeHead(refusal.status, { 'retry-after': '1', 'content-type': 'application/problem+json' });
      response.end(refusal.body);
      return;
    }
    const forwarded = request(new URL(url ?? '/', target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(forwarded);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the database is created and the records are stored after the time of Retry-After', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const busy = { type: 'about:blank', title: 'Busy', status: 429, code: 'rate_limited', detail: 'too many' };
  const between = await busyProxy(url, [
    { status: 429, body: JSON.stringify(busy) },
    // A proxy in front of a service that restarts does not answer as cosift does.
    { status: 503, body: '<html>' },
  ]);
  const file = join(directory, 'a.ndjson');
  await writeFile(file, lines(1, 50));
  const args = ['--database', 'd', '--dimensions', '4', '--key', KEY, '--url', between];
  const stored = await cosift('import', file, ...args);
  expect(stored.stderr).toMatch(
    /^too many; trying again in 0:01\nthe server answered 503.*; trying again in 0:01\n$/,
  );
  expect(stored.stderr.match(/trying again in 0:01/g)).toHaveLength(2);
  expect(stored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^50 records .*: 50 created, /) });
});
