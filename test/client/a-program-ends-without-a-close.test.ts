import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Service } from '../server/service.js';

test('connections that are kept for later requests do not keep the process alive', async () => {
  const service = await Service.start();
  const program = `
    import { Client } from 'cosift/client';
    const client = new Client({ url: '${service.url}', key: '${service.adminKey}' });
    const lines = await client.createDatabase('lines', { dimensions: 2 });
    for await (const _ of lines.upsertLines(['{"id":1,"data":{},"vector":[1,0]}']));
    console.log((await client.databases()).length);
  `;
  // An idle connection of the service lives longer than the test may take.
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(await ended).toEqual({ stdout: '1\n', stderr: '' });
  await service.stop();
});
