// Runs the official conformance suite of the Model Context Protocol against a service of its own, over HTTP and over standard
// input and output, in both eras of the protocol: node test/mcp-conformance/run.mjs [scenario …]
//
// Most scenarios call tools, prompts and resources of a server that was made for the suite. These are the others. The suite
// speaks HTTP only, so it reaches `cosift mcp` through a front that passes each message on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
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
/** The scenarios about messages, not about HTTP. */
const OVER_STDIO = ['server-initialize', 'ping', 'tools-list', 'caching'];
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
try {
  const url = await listening(service);
  for (const [version, scenarios] of Object.entries(SCENARIOS)) {
    for (const scenario of scenarios) {
      if (wanted.length > 0 && !wanted.includes(scenario)) continue;
      await check('HTTP', withKey(url), scenario, version);
      if (OVER_STDIO.includes(scenario)) await check('stdio', overStdio(url), scenario, version);
    }
  }
} finally {
  service.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
}

/** Runs a scenario against a front of the service, and closes it. */
async function check(transport, { answer, close }, scenario, version) {
  console.log(`\n== ${scenario} of ${version} over ${transport}`);
  const front = createServer(answer);
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${front.address().port}/mcp`;
  const command = `conformance server --url ${url} --scenario ${scenario} --spec-version ${version} --expected-failures ${here}expected-failures.yaml --output-dir ${data}/results`;
  const child = spawn('npx', ['-y', `--package=${NODE}`, `--package=${SUITE}`, '-c', command], {
    cwd: data,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  front.closeAllConnections();
  front.close();
  await close?.();
  if (code !== 0) process.exitCode = 1;
}

/** Passes requests on with a key, which the suite cannot send. */
function withKey(target) {
  const answer = (incoming, response) => {
    const { method, url, headers } = incoming;
    const passed = request(`${target}${url}`, { method, headers: { ...headers, 'x-api-key': KEY } });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    incoming.pipe(passed);
  };
  return { answer };
}

/** Passes the messages of requests on to a process `cosift mcp`, which each scenario has to itself. */
function overStdio(target) {
  const args = ['dist/cli/main.js', 'mcp', '--url', target, '--key', KEY];
  const server = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  const waiting = new Map();
  createInterface({ input: server.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.writeHead(200, { 'content-type': 'application/json' }).end(line);
    waiting.delete(id);
  });
  const answer = async (incoming, response) => {
    if (incoming.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(await text(incoming));
    if (message.id === undefined) response.writeHead(202).end();
    else waiting.set(message.id, response);
    server.stdin.write(`${JSON.stringify(message)}\n`);
  };
  const close = async () => {
    server.stdin.end();
    await ended;
  };
  return { answer, close };
}

async function listening({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /^listening on (.*)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the service did not start');
}
