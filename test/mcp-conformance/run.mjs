// Runs the official conformance suite of the Model Context Protocol against a service of its own, in both eras of the
// protocol: node test/mcp-conformance/run.mjs [scenario …]
//
// Most scenarios call tools, prompts and resources of a server that was made for the suite. These are the others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
/** The suite needs a later Node than cosift. */
const NODE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@22`;
const SCENARIOS = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
};
const KEY = 'key-of-the-service';
const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

const wanted = process.argv.slice(2);
const data = await mkdtemp(path.join(tmpdir(), 'cosift-mcp-'));
const service = spawn(
  process.execPath,
  ['dist/cli/main.js', 'serve', '--data', data, '--port', '0', '--log-level', 'error'],
  { cwd: root, env: { ...process.env, COSIFT_ADMIN_KEY: KEY }, stdio: ['ignore', 'pipe', 'inherit'] },
);
const ended = once(service, 'exit');
const proxy = createServer();
try {
  proxy.on('request', withKey(await listening(service)));
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  for (const [version, scenarios] of Object.entries(SCENARIOS)) {
    for (const scenario of scenarios) {
      if (wanted.length > 0 && !wanted.includes(scenario)) continue;
      console.log(`\n== ${scenario} of ${version}`);
      if ((await check(url, scenario, version)) !== 0) process.exitCode = 1;
    }
  }
} finally {
  proxy.closeAllConnections();
  proxy.close();
  service.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
}

async function check(url, scenario, version) {
  const command = `conformance server --url ${url} --scenario ${scenario} --spec-version ${version} --expected-failures ${here}expected-failures.yaml --output-dir ${data}/results`;
  const child = spawn('npx', ['-y', `--package=${NODE}`, `--package=${SUITE}`, '-c', command], {
    cwd: data,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  return code;
}

/** Passes requests on with a key, which the suite cannot send. */
function withKey(target) {
  return (incoming, response) => {
    const { method, url, headers } = incoming;
    const passed = request(`${target}${url}`, { method, headers: { ...headers, 'x-api-key': KEY } });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    incoming.pipe(passed);
  };
}

async function listening({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /^listening on (.*)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the service did not start');
}
