// What a user does with an installed cosift.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { check } from './checks.mjs';
import { userEnvironment } from './commands.mjs';

const KEY = 'key-of-the-install-check';
const MAX_BYTES = 100e6;

export async function checkUsage(name, project) {
  await check(`${name}: the first search, in five lines`, async () => {
    assert.equal(await project.node('first-search.mjs'), 'Eiffel Tower\n');
  });
  await check(`${name}: require`, async () => {
    assert.equal(await project.node('require.cjs'), 'Lake Baikal\n');
  });
  await check(`${name}: vectors of your own`, async () => {
    assert.equal(await project.node('own-vectors.mjs'), 'north\n');
  });
  await check(`${name}: the command line`, () => checkCommandLine(project));
  await check(`${name}: the server and the client`, () => checkServer(project));
}

/** What was installed is small, and ran nothing. */
export async function checkInstalled(name, project) {
  await check(`${name}: at most ${MAX_BYTES / 1e6} MB on the disk`, () => {
    const bytes = project.size();
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    return `${(bytes / 1e6).toFixed(1)} MB in ${project.installed().length} packages`;
  });
  await check(`${name}: no package has an install script`, () => {
    const scripts = project.installed().filter(([, { hasInstallScript }]) => hasInstallScript);
    assert.deepEqual(scripts, []);
  });
}

async function checkCommandLine(project) {
  assert.match(await project.npx('cosift', '--help'), /Usage: cosift/);
  project.write('facts.csv', 'id,name,height_m\n1,Eiffel Tower,330\n2,Lake Baikal,\n');
  await project.npx('cosift', 'import', 'facts.csv', '--database', 'facts', '--data', 'imported');
  const args = ['search', 'deep water', '--database', 'facts', '--data', 'imported', '--json'];
  const page = JSON.parse(await project.npx('cosift', ...args));
  assert.equal(page.results[0].data.name, 'Lake Baikal');
}

async function checkServer(project) {
  await withServer(project, async (url) => {
    const response = await fetch(`${url}/v1/databases/facts/search`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ search: { text: 'a tall building' } }),
    });
    assert.equal(response.status, 200);
    assert.equal((await response.json()).results[0].data.name, 'Eiffel Tower');
    for (const program of ['client.mjs', 'client.cjs']) {
      assert.equal(await project.node(program, url, KEY), 'Lake Baikal\n', program);
    }
  });
}

/** The client alone, in a project of its own, with the server of another one. */
export async function checkClientAlone(client, project) {
  await check('@cosift/client alone: npm install @cosift/client', async () => {
    await client.npm('install', '@cosift/client');
    assert.deepEqual(
      client.installed().map(([path]) => path),
      ['node_modules/@cosift/client'],
    );
    return `${(client.size() / 1e3).toFixed(0)} kB`;
  });
  await check('@cosift/client alone: import and require', () =>
    withServer(project, async (url) => {
      for (const program of ['client-package.mjs', 'client-package.cjs']) {
        assert.equal(await client.node(program, url, KEY), 'Lake Baikal\n', program);
      }
    }),
  );
}

/** Serves the database of the command line check while `body` runs. The server must then stop by itself. */
async function withServer(project, body) {
  // Not by npx, which would receive the signal instead of the server.
  const args = ['serve', '--port', '0', '--data', 'imported', '--log-level', 'warn'];
  const server = spawn(join(project.bin, 'cosift'), args, {
    cwd: project.directory,
    env: { ...userEnvironment(project.nodeFile), COSIFT_ADMIN_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  try {
    await body(await addressOf(server));
  } finally {
    server.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
}

/** The address that a server prints once it is ready. */
async function addressOf(server) {
  const lines = [];
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /listening on (http:\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      server.stdout.resume();
      return url;
    }
    lines.push(line);
  }
  throw new Error(`the server ended before it was ready:\n${lines.join('\n')}`);
}
