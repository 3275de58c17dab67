import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Raw, request } from './raw.js';
import { JSON_TYPE, Service } from './service.js';

const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
const TINY = '1\r\na\r\n'.repeat(5_000);

test('a body without a key is not read to its end, and its sender gets the whole response', async () => {
  const service = await Service.start();
  try {
    const raw = new Raw(service);
    raw.socket.write(request('no-key', 'POST', '/v1/databases/some/search', undefined, CHUNKED));
    let sent = 0;
    let isClosed = false;
    raw.closed.then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      if (raw.socket.writableLength < 1_000_000) {
        sent += TINY.length;
        raw.socket.write(TINY);
      }
      await setImmediate();
    }
    expect(raw.received).toMatch(/^HTTP\/1\.1 401 .*"code":"unauthorized".*\}$/s);
    // What the service read, and the buffers of the system.
    expect(sent).toBeGreaterThan(100_000);
    // The next caller is served.
    expect((await service.call('GET', '/livez')).status).toBe(200);
  } finally {
    await service.stop();
  }
});

test('the rest of a body is read for a caller with a key, whose connection then serves the next request', async () => {
  const service = await Service.start({ limitBatchBytes: 500_000 });
  try {
    const raw = new Raw(service);
    const body = 'x'.repeat(400_000);
    raw.socket.write(request(service.adminKey, 'POST', '/v1/databases/none/records/nothing/more', body));
    await raw.until(/^HTTP\/1\.1 404 /);
    raw.socket.write(request(service.adminKey, 'GET', '/livez'));
    await raw.until('{"status":"ok"}');
    raw.socket.destroy();
  } finally {
    await service.stop();
  }
});

test.skipIf(process.platform === 'win32')(
  'connections leave half of the file descriptors to the databases',
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'cosift-descriptors-'));
    const command = `ulimit -n 200 && exec node dist/cli/main.js serve --port 0 --data ${directory} --log-level silent`;
    const server = spawn('sh', ['-c', command], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, COSIFT_ADMIN_KEY: 'a-key-of-this-test' },
    });
    const sockets: ReturnType<typeof connect>[] = [];
    try {
      let port = 0;
      for await (const line of createInterface(server.stdout)) {
        port = Number(/listening on .*:(\d+)$/.exec(line)?.[1] ?? 0);
        if (port !== 0) break;
      }
      let open = 0;
      for (let i = 0; i < 150; i++) {
        const socket = connect(port, '127.0.0.1');
        sockets.push(socket);
        socket.on('error', () => undefined).on('close', () => (open -= 1));
        await once(socket, 'connect');
        open += 1;
      }
      // Those beyond the limit are closed on arrival.
      await expect.poll(() => open).toBe(100);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.kill();
      await once(server, 'exit');
      await rm(directory, { recursive: true });
    }
  },
);
