import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

vi.setConfig({ testTimeout: 300_000 });

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Listens in front of a server, and cuts each of the first `cuts` streams after `bytes` bytes of its response. */
async function proxy(
  target: string,
  cuts: number,
  bytes: number,
): Promise<{ url: string; cut: () => number }> {
  let cut = 0;
  const server = createServer((socket) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    let isStream = false;
    let answered = 0;
    const end = () => {
      socket.destroy();
      upstream.destroy();
    };
    socket.on('data', (data) => {
      isStream ||= data.includes('application/x-ndjson');
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      answered += data.length;
      if (isStream && answered > bytes && cut < cuts) {
        cut += 1;
        end();
      } else {
        socket.write(data);
      }
    });
    for (const side of [socket, upstream]) side.on('error', end).on('close', end);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut: () => cut };
}

test('the rest of the rows is sent again after the connection is lost, and nothing is stored twice', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const between = await proxy(url, 2, 600);
  const file = join(directory, 'a.ndjson');
  await writeFile(file, `${lines(1, 3_000)}{"id":-1,"data":{}}\n${lines(3_001, 5_000)}`);
  const args = ['--database', 'd', '--dimensions', '4', '--key', KEY, '--url'];
  const stored = await cosift('import', file, ...args, between.url);
  expect(between.cut()).toBe(2);
  expect(stored.stderr.match(/trying again in 0:0\d/g)).toHaveLength(2);
  expect(stored.stderr.match(/line 3001: \/id: /g)).toHaveLength(1);
  expect(stored.stdout).toMatch(/^5,000 records .* before the connection was lost, .*, 1 bad lines\n/);
  const again = await cosift('import', file, ...args, url);
  expect(again.stdout).toContain(': 0 created, 0 changed, 5,000 unchanged, 1 bad lines');
});

test('an import whose server ends says what is stored, and the same command continues', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const { url, command: server } = await serve(data);
  const command = new Command([
    'import',
    '-',
    '--database',
    'd',
    '--dimensions',
    '4',
    '--url',
    url,
    '--key',
    KEY,
  ]);
  command.child.stdin.write(`${lines(1, 2_000)}{}\n`);
  command.child.stdin.write(`{"id":-1,"data":{}}\n${lines(2_001, 4_000)}`);
  // The service has reported on a row, so that rows before it are stored.
  await command.waitFor('stderr', /line 2002: /);
  server.child.kill('SIGTERM');
  await server.ended();
  expect(await command.ended()).toBe(1);
  const [, stored = ''] = await command.waitFor(
    'stderr',
    /cannot be reached.*stopped: ([\d,]+) records are stored\. Run the same command/,
  );
  const count = Number(stored.replaceAll(',', ''));
  const file = join(directory, 'a.ndjson');
  await writeFile(file, lines(1, 4_000));
  const rest = await cosift('import', file, '--database', 'd', '--dimensions', '4', '--data', data);
  const [, unchanged = ''] = /([\d,]+) unchanged, 0 bad/.exec(rest.stdout) ?? [];
  expect(Number(unchanged.replaceAll(',', ''))).toBeGreaterThanOrEqual(count);
  expect(rest.stdout).toMatch(/^4,000 records/);
});
