import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { constants, createGzip } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { onlyInFull, testInFull } from '../helpers/full.js';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/**
 * Listens in front of a server. `cut` ends all its connections; `untilSent` holds back the responses, and waits until a
 * request has a text.
 */
async function proxy(target: string) {
  const sockets = new Set<Socket>();
  let sent = '';
  let isHeld = false;
  const server = createServer((socket) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    socket.pipe(upstream);
    socket.on('data', (chunk) => {
      sent += chunk;
    });
    upstream.on('data', (chunk) => isHeld || socket.write(chunk)).on('end', () => socket.end());
    const end = () => {
      socket.destroy();
      upstream.destroy();
      sockets.delete(socket);
    };
    sockets.add(socket);
    for (const side of [socket, upstream]) side.on('error', end).on('close', end);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const untilSent = async (text: string) => {
    isHeld = true;
    await expect.poll(() => sent).toContain(text);
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, untilSent };
}

test('the rest of the rows is sent again after the connection is lost, and nothing is stored twice', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const between = await proxy(url);
  const args = ['--database', 'd', '--dimensions', '4', '--key', KEY, '--url'];
  const command = new Command(['import', '-', ...args, between.url]);
  const bad = '{"id":-1,"data":{}}\n';
  // A report on a bad row shows that the rows long before it are acknowledged.
  command.child.stdin.write(`${lines(1, 3_000)}${bad}`);
  await command.waitFor('stderr', /line 3001: \/id: /);
  between.cut();
  command.child.stdin.write(`${lines(3_001, 6_000)}${bad}`);
  await command.waitFor('stderr', /line 6002: \/id: /);
  between.cut();
  command.child.stdin.end(lines(6_001, 8_000));
  expect(await command.ended()).toBe(1);
  expect(command.stderr.match(/trying again in 0:0\d/g)).toHaveLength(2);
  const [, earlier = 0, created = 0, unchanged = 0] =
    /^8,000 records .*: ([\d,]+) before the connection was lost, ([\d,]+) created, 0 changed, ([\d,]+) unchanged, /
      .exec(command.stdout)
      ?.map((count) => Number(count.replaceAll(',', ''))) ?? [];
  expect(earlier).toBeGreaterThan(4_000);
  expect(earlier + created + unchanged).toBe(8_000);
  const file = join(directory, 'a.ndjson');
  await writeFile(file, lines(1, 8_000));
  const again = await cosift('import', file, ...args, url);
  expect(again.stdout).toContain(': 0 created, 0 changed, 8,000 unchanged, 0 bad lines');
});

test('rows with a condition are not sent again, because they may be stored', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const between = await proxy(url);
  const command = new Command([
    'import',
    '-',
    ...['--database', 'd', '--dimensions', '2', '--key', KEY],
    ...['--url', between.url],
  ]);
  const line = (id: number) => `${JSON.stringify({ id, data: {}, vector: [1, 0], if_changed_at: null })}\n`;
  command.child.stdin.write(`${line(1)}${line(2)}{"id":-1,"data":{}}\n`);
  await command.waitFor('stderr', /line 3: \/id: /);
  const sent = between.untilSent('"id":4');
  command.child.stdin.write(line(4));
  await sent;
  between.cut();
  expect(await command.ended()).toBe(1);
  expect(command.stderr).toContain(
    'rows with if_changed_at may be stored: compare before you import them again',
  );
  expect(command.stderr).not.toContain('trying again');
});

test('a file whose rows have conditions and only partly an id is imported', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'a.ndjson');
  const rows = [
    { key: 'q', data: { n: 1 }, vector: [1, 0], if_changed_at: null },
    { id: 50, data: { n: 2 }, vector: [1, 0], if_changed_at: null },
  ];
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const args = ['--database', 'd', '--dimensions', '2', '--data', join(directory, 'data')];
  expect(await cosift('import', file, ...args)).toMatchObject({ code: 0 });
});

testInFull('an import that deletes stops when the connection is lost, and deletes nothing', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const between = await proxy(url);
  const args = ['--database', 'd', '--dimensions', '4', '--key', KEY, '--url'];
  const [before, after] = [join(directory, 'before.ndjson'), join(directory, 'after.ndjson')];
  await writeFile(before, lines(1, 20));
  await cosift('import', before, ...args, url);
  const replacement = ['--delete-missing', '--max-deletes', '9'];
  const command = new Command(['import', '-', ...replacement, ...args, between.url]);
  const bad = '{"id":-1,"data":{}}\n';
  command.child.stdin.write(`${lines(10, 3_000)}${bad}`);
  // The rows long before the bad one are acknowledged: a call with the others alone would delete them.
  await command.waitFor('stderr', /line 2992: \/id: /);
  between.cut();
  command.child.stdin.end(lines(3_001, 4_000));
  expect(await command.ended()).toBe(1);
  expect(command.stderr).toMatch(
    /stopped: at least [\d,]+ records are stored\. Run the same command to go on/,
  );
  const again = await cosift('import', before, ...args, url);
  expect(again.stdout).toContain(': 0 created, 0 changed, 20 unchanged');
  await writeFile(after, lines(10, 4_000));
  const whole = await cosift('import', after, ...replacement, ...args, url);
  expect(whole.stdout).toContain(' 9 deleted, ');
});

testInFull('an input that fails while the connection is lost fails the import', async () => {
  const directory = await temporaryDirectory();
  const { url } = await serve(join(directory, 'data'));
  const between = await proxy(url);
  const command = new Command(
    ['import', '-', '--database', 'd', '--dimensions', '4', '--url', between.url].concat(['--key', KEY]),
  );
  const gzip = createGzip();
  gzip.pipe(command.child.stdin, { end: false });
  gzip.write(`${lines(1, 3_000)}{"id":-1,"data":{}}\n`);
  gzip.flush(constants.Z_SYNC_FLUSH);
  await command.waitFor('stderr', /line 3001: /);
  between.cut();
  await command.waitFor('stderr', /trying again/);
  // Without the end of the gzip data.
  command.child.stdin.end();
  expect(await command.ended()).toBe(1);
  await command.waitFor('stderr', /the gzip data is damaged or cut off/);
});

test('an import whose server ends says what is stored, and the same command continues', async (context) => {
  onlyInFull(context);
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
    /cannot be reached.*stopped: at least ([\d,]+) records are stored\. Run the same command/,
  );
  const count = Number(stored.replaceAll(',', ''));
  const file = join(directory, 'a.ndjson');
  await writeFile(file, lines(1, 4_000));
  const rest = await cosift('import', file, '--database', 'd', '--dimensions', '4', '--data', data);
  const [, unchanged = ''] = /([\d,]+) unchanged, 0 bad/.exec(rest.stdout) ?? [];
  expect(Number(unchanged.replaceAll(',', ''))).toBeGreaterThanOrEqual(count);
  expect(rest.stdout).toMatch(/^4,000 records/);
});
