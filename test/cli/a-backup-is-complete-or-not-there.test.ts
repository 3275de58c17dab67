import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { open } from '../../src/index.js';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const RECORDS = 2_000;
/** A test runs about ten processes. Milliseconds. */
const TIMEOUT = 240_000;

/** Waits until `condition` holds, without a limit of its own. */
async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await pause(2);
}

/** A server with a database `points` of {@link RECORDS} records. */
async function served(data: string): Promise<{ command: Command; server: string[]; url: string }> {
  const databases = await open(data);
  const points = await databases.createDatabase('points', { dimensions: 4 });
  for await (const _ of points.upsertLines([lines(1, RECORDS)]));
  await databases.close();
  const { command, url } = await serve(data);
  return { command, server: ['--url', url, '--key', KEY], url };
}

async function recordsOf(data: string): Promise<[string, number][]> {
  const opened = await open(data);
  const described = await opened.databases();
  await opened.close();
  return described.map(({ id, records }) => [id, records]);
}

test(
  'of a running server, through a file and through a pipe',
  async () => {
    const data = await temporaryDirectory();
    const { command, server } = await served(data);
    const issued = await cosift('key', 'create', '--name', 'reader', ...server);
    const target = await temporaryDirectory();
    const file = path.join(target, 'all.tar');
    const made = await cosift('backup', '--output', file, ...server);
    expect(made).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('backed up everything'),
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(target)).toEqual(['all.tar']);
    const locked = await cosift('backup', '--output', file, '--data', data);
    expect(locked).toMatchObject({ code: 1, stderr: expect.stringContaining('--url') });
    command.child.kill('SIGTERM');
    await command.ended();

    const restored = path.join(target, 'restored');
    const first = await cosift('restore', file, '--data', restored);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /points +2,000 +own vectors\nrestored into .*: 1 database, keys\.json, as of /,
    );
    expect(await recordsOf(restored)).toEqual([['points', RECORDS]]);
    const again = await serve(restored);
    const status = await fetch(`${again.url}/v1/keys`, { headers: { 'x-api-key': issued.stdout.trim() } });
    expect(status.status, 'the key is known, and lacks the action').toBe(403);
    expect(existsSync(path.join(restored, 'admin.key'))).toBe(false);

    const pipe =
      '"$0" "$1" backup --output - --database points --data "$2" | "$0" "$1" restore - --data "$3"';
    const piped = path.join(target, 'piped');
    await promisify(execFile)('sh', ['-c', pipe, process.execPath, MAIN, data, piped]);
    expect(await recordsOf(piped)).toEqual([['points', RECORDS]]);
    expect(await cosift('restore', file, '--data', data)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    });
    expect(await cosift('backup', '--output', file, '--data', path.join(target, 'missing'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no directory'),
    });
  },
  TIMEOUT,
);

test(
  'a server that is killed during a backup starts healthy, and removes what was left',
  async () => {
    const data = await temporaryDirectory();
    const { command, url } = await served(data);
    const spool = path.join(data, '.backup');
    const backup = async () =>
      (await fetch(`${url}/v1/backup`, { headers: { 'x-api-key': KEY } })).arrayBuffer();
    // One after the other: a single one may be complete before its file is seen.
    let isKilled = false;
    const backups = (async () => {
      while (!isKilled) await backup().catch(() => undefined);
    })();
    await until(() => existsSync(spool));
    isKilled = true;
    command.child.kill('SIGKILL');
    await command.ended();
    await backups;
    expect(await recordsOf(data)).toEqual([['points', RECORDS]]);
    expect(existsSync(spool)).toBe(false);
  },
  TIMEOUT,
);

test(
  'a restore that is killed can be repeated, and nothing else uses the directory before',
  async () => {
    const data = await temporaryDirectory();
    const { command, server } = await served(data);
    const target = await temporaryDirectory();
    const file = path.join(target, 'all.tar');
    await cosift('backup', '--output', file, ...server);
    command.child.kill('SIGTERM');
    await command.ended();
    const archive = await readFile(file);
    const restored = path.join(target, 'restored');
    const half = new Command(['restore', '-', '--data', restored]);
    half.child.stdin.write(archive.subarray(0, archive.length / 2));
    await until(() => existsSync(path.join(restored, '.restore/databases/points/records.sqlite')));
    half.child.kill('SIGKILL');
    await half.ended();
    const refused = await cosift('serve', '--port', '0', '--data', restored);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('run it again') });
    expect(await cosift('restore', file, '--data', restored)).toMatchObject({ code: 0 });
    expect(await recordsOf(restored)).toEqual([['points', RECORDS]]);
  },
  TIMEOUT,
);

/** A service whose archive ends after some bytes, until `end` does something with the response. */
async function unfinished(): Promise<{ url: string; response: Promise<ServerResponse> }> {
  const server = createServer();
  const response = once(server, 'request').then(([, response]) => {
    response.writeHead(200, { 'content-type': 'application/x-tar', 'content-length': 1_000_000 });
    response.write(Buffer.alloc(500_000));
    return response as ServerResponse;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, response };
}

test('a backup that is stopped, or whose connection breaks, leaves no file', async () => {
  for (const [end, code, text] of [
    [(command: Command) => command.child.kill('SIGINT'), 130, 'no backup was written'],
    [(_: Command, response: ServerResponse) => response.destroy(), 1, 'cannot be reached'],
  ] as const) {
    const { url, response } = await unfinished();
    const target = await temporaryDirectory();
    const file = path.join(target, 'all.tar');
    const command = new Command(['backup', '--output', file, '--url', url, '--key', KEY]);
    const sent = await response;
    await until(async () =>
      (await readdir(target)).some((name) => /^all\.tar\.[0-9a-f]{16}\.tmp$/.test(name)),
    );
    end(command, sent);
    expect([await command.ended(), command.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(await readdir(target)).toEqual([]);
  }
});

test('of a database with a damaged record there is no backup', { timeout: TIMEOUT }, async () => {
  const data = await temporaryDirectory();
  const load = new Command(['import', '-', '--database', 'facts', '--dimensions', '4', '--data', data]);
  load.child.stdin.end(lines(1, 20));
  expect(await load.ended()).toBe(0);
  const file = path.join(data, 'databases', 'facts', 'records.sqlite');
  const bytes = await readFile(file);
  // A letter of a text that searches read from the index files.
  const at = bytes.indexOf(Buffer.from('"record 7"'));
  expect(at).toBeGreaterThan(0);
  bytes[at + 1]! ^= 1;
  await writeFile(file, bytes);
  const archive = path.join(await temporaryDirectory(), 'facts.tar');
  const made = await cosift('backup', '--output', archive, '--data', data);
  // The check after the start may find the damage before the backup does, or while it begins.
  const reason =
    /the backup would lack "facts"|"facts" could not be opened: damaged|"facts" cannot be backed up: record 7 is damaged on disk/;
  expect(made).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) });
  expect(existsSync(archive)).toBe(false);
});
