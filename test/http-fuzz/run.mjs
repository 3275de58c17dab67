// Sends generated requests to every operation of a service of its own and holds the answers to the OpenAPI document:
// node test/http-fuzz/run.mjs [--max-examples n] [--seed n] [other options of `schemathesis run`]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const VERSION = '4.32.5';
const KEY = 'key-of-the-fuzzed-service';
const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

const schemathesis = install();
if (schemathesis === undefined) {
  console.log('skipped: schemathesis cannot be installed here (it needs python3 and PyPI)');
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
process.exitCode = await fuzz(schemathesis, process.argv.slice(2));

/** The program in an environment of its own, made when missing; undefined where that cannot be. */
function install() {
  const environment = path.join(root, 'target', `schemathesis-${VERSION}`);
  const program = path.join(environment, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  const run = (command, ...options) =>
    spawnSync(command, options, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  const python = path.join(environment, 'bin', 'python');
  const made =
    run('python3', '-m', 'venv', environment) &&
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`);
  return made ? program : undefined;
}

async function fuzz(program, options) {
  const data = await mkdtemp(path.join(tmpdir(), 'cosift-fuzz-'));
  const service = spawn(
    process.execPath,
    ['dist/cli/main.js', 'serve', '--data', data, '--port', '0', '--rate-limit', '0', '--log-level', 'error'],
    { cwd: root, env: { ...process.env, COSIFT_ADMIN_KEY: KEY }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(service, 'exit');
  try {
    const url = await listening(service);
    await fill(url);
    const given = ['--max-examples', '25', '--seed', '20261121', ...options];
    const child = spawn(
      program,
      ['--config-file', path.join(here, 'schemathesis.toml'), 'run', `${url}/openapi.json`].concat(
        [
          '--header',
          `x-api-key: ${KEY}`,
          '--phases',
          'examples,coverage,fuzzing',
          '--warnings',
          'off',
          '--no-color',
        ],
        given,
      ),
      {
        cwd: data,
        env: { ...process.env, SCHEMATHESIS_HOOKS: path.join(here, 'hooks.py') },
        stdio: 'inherit',
      },
    );
    const [status] = await once(child, 'exit');
    await report(url);
    if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`);
    return status ?? 1;
  } finally {
    service.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  }
}

/** What the service counted: answers of each operation by class of status. */
async function report(url) {
  const metrics = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': KEY } })).text();
  const samples = /^cosift_http_requests_total\{operation="(\w+)",status="(\d)\d\d"\} (\d+)$/gm;
  const answers = {};
  for (const [, operation, digit, count] of metrics.matchAll(samples)) {
    answers[operation] ??= { '2xx': 0, '4xx': 0, '5xx': 0 };
    answers[operation][`${digit}xx`] += Number(count);
  }
  console.table(answers);
}

async function listening(service) {
  for await (const line of createInterface({ input: service.stdout })) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the service did not start');
}

async function fill(url) {
  const call = async (method, target, body) => {
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/databases/${target}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
  };
  const facts = [
    { name: 'Eiffel Tower', country: 'France', height_m: 330 },
    { name: 'Chrysler Building', country: 'United States', height_m: 319 },
    { name: 'Big Ben', country: 'United Kingdom', height_m: 96, notes: '' },
  ];
  for (const database of ['landmarks', 'scratch']) {
    await call('PUT', database, {});
    await call('POST', `${database}/records`, { records: facts.map((data, i) => ({ id: i + 1, data })) });
  }
}
