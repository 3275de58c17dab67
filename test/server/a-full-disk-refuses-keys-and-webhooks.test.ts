import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';

/** A file system of its own that is soon full; undefined where this user may not mount one. */
const disk = (() => {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', directory], { stdio: 'ignore' });
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    console.log('skipped: mounting a small file system needs more rights');
    return undefined;
  }
})();
afterAll(() => {
  if (disk === undefined) return;
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const size of [1 << 20, 4096, 1]) {
      const chunk = Buffer.alloc(size);
      try {
        for (;;) await handle.write(chunk);
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      }
    }
  } finally {
    await handle.close();
  }
}

test.skipIf(disk === undefined)('with 507, changes nothing and leaves no file behind', async () => {
  const data = path.join(disk as string, 'data');
  const { config } = resolveConfig({ port: 0, data, logLevel: 'silent', webhookAllow: '127.0.0.1' }, {});
  const { url, admin, close } = await start(config, { print: () => undefined });
  const call = async (method: string, route: string, body?: object) => {
    const headers = { 'x-api-key': String(admin.key), ...(body && { 'content-type': 'application/json' }) };
    const response = await fetch(`${url}/v1${route}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const issue = () => call('POST', '/keys', { name: 'k', actions: ['search'], databases: '*' });
  const hook = () => call('POST', '/databases/fan/webhooks', { url: 'http://127.0.0.1:9/' });
  try {
    await call('PUT', '/databases/fan', { dimensions: 2 });
    const { key_id } = (await issue()).body;
    const { webhook_id } = (await hook()).body;
    const files = await readdir(data);
    const filler = path.join(disk as string, 'filler');
    await fill(filler);

    for (const refused of [
      await issue(),
      await call('DELETE', `/keys/${key_id}`),
      await hook(),
      await call('DELETE', `/databases/fan/webhooks/${webhook_id}`),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([507, 'disk_full']);
    }
    expect(await readdir(data)).toEqual(files);
    const listed = async () => [
      (await call('GET', '/keys')).body.keys.map(({ key_id }: { key_id: string }) => key_id),
      (await call('GET', '/databases/fan/webhooks')).body.webhooks.map(
        ({ webhook_id }: { webhook_id: string }) => webhook_id,
      ),
    ];
    expect(await listed()).toEqual([[key_id], [webhook_id]]);

    await rm(filler);
    expect((await call('DELETE', `/databases/fan/webhooks/${webhook_id}`)).status).toBe(204);
    expect((await call('DELETE', `/keys/${key_id}`)).status).toBe(204);
    expect((await issue()).status).toBe(201);
    expect((await hook()).status).toBe(201);
  } finally {
    await close();
  }
});
