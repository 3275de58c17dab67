import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { Command, KEY, temporaryDirectory } from '../helpers/processes.js';
import { fan, JSON_TYPE } from './service.js';

const SOURCE = fileURLToPath(new URL('../../crates/engine/src/store/tests/faults.c', import.meta.url));

const libraries: string[] = [];
afterAll(async () => {
  for (const library of libraries) await rm(library, { force: true });
});

// A library before libc that fails syncs on demand exists on Linux only.
test.skipIf(process.platform !== 'linux')(
  'a failed sync shows in the state, the metrics and the log, and the database is still read',
  async () => {
    const faults = await temporaryDirectory();
    const library = path.join(faults, 'faults.so');
    execFileSync(process.env.CC ?? 'cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
    libraries.push(library);
    const command = new Command(['serve', '--port', '0', '--data', path.join(faults, 'data')], {
      COSIFT_ADMIN_KEY: KEY,
      LD_PRELOAD: library,
      FAULTS: faults,
    });
    const [, url = ''] = await command.waitFor('stdout', /listening on (http:\S+)\n/);
    const call = async (method: string, target: string, body?: unknown, key = KEY) => {
      const answer = await fetch(url + target, {
        method,
        headers: { 'x-api-key': key, ...(body !== undefined && JSON_TYPE) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    for (const id of ['broken', 'sound']) {
      expect((await call('PUT', `/v1/databases/${id}`, { dimensions: 2 })).status).toBe(201);
      const records = fan(20);
      expect((await call('POST', `/v1/databases/${id}/records`, { records })).status).toBe(200);
    }
    const put = (database: string, id = 99) =>
      call('POST', `/v1/databases/${database}/records`, { records: [{ ...fan(1)[0], id }] });
    expect(JSON.parse((await call('GET', '/readyz')).text)).toEqual({ status: 'ok' });

    // A database that was just written to does not move its log while syncs fail.
    expect((await put('sound', 98)).status).toBe(200);
    await writeFile(path.join(faults, 'sync'), '');
    expect((await put('broken')).status).toBe(503);
    await rm(path.join(faults, 'sync'));
    expect((await put('broken')).status).toBe(503);
    expect((await put('sound')).status).toBe(200);

    const state = await call('GET', '/readyz');
    expect(state.status).toBe(200);
    expect(JSON.parse(state.text)).toEqual({
      status: 'ok',
      reasons: ['database "broken" refuses writes until the next start'],
    });
    const anonymous = JSON.parse((await call('GET', '/readyz', undefined, '')).text);
    expect(anonymous.reasons).toEqual(['a database refuses writes until the next start']);
    const metrics = (await call('GET', '/metrics')).text;
    expect(metrics).toMatch(/^cosift_database_writable\{database="broken"\} 0$/m);
    expect(metrics).toMatch(/^cosift_database_writable\{database="sound"\} 1$/m);
    expect(metrics).toMatch(/^cosift_database_loaded\{database="broken"\} 1$/m);
    const search = { search: { vector: [1, 0] } };
    expect((await call('POST', '/v1/databases/broken/search', search)).status).toBe(200);

    const [line = ''] = await command.waitFor('stderr', /^.*"code":"writes_refused".*$/m);
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      database: 'broken',
      cause: expect.stringContaining('SQLite failed'),
      msg: 'engine event',
    });
    command.child.kill('SIGTERM');
    expect(await command.ended()).toBe(0);
    // Once, however many writes were refused.
    expect(command.stderr.match(/"code":"writes_refused"/g)).toHaveLength(1);
  },
);
