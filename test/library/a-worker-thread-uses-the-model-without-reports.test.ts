import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const LIBRARY = pathToFileURL(path.resolve(import.meta.dirname, '../../dist/index.js')).href;

const SEARCH = `(async () => {
  const { open } = await import(${JSON.stringify(LIBRARY)});
  const cosift = await open('data');
  const texts = await cosift.createDatabase('texts');
  await texts.upsert([{ id: 1, data: { text: 'cat' } }]);
  console.log((await texts.search('kitten')).results[0].data.text);
  await cosift.close();
})()`;

const SEARCH_IN_WORKER = `
  const { Worker } = await import('node:worker_threads');
  const worker = new Worker(${JSON.stringify(SEARCH)}, { eval: true });
  worker.on('error', ({ code, message }) => console.log(code + ': ' + message));
`;

/** Runs a program with an empty data directory, and returns what it prints. */
async function run(program: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-worker-'));
  const { ORT_DISABLE_TELEMETRY: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const args = ['--input-type=module', '-e', program];
  try {
    return (await promisify(execFile)(process.execPath, args, { cwd: directory, env })).stdout;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('a worker thread that uses the model first says how to turn off the reports of onnxruntime', async () => {
  expect(await run(SEARCH_IN_WORKER)).toMatch(/^not_ready: .*set ORT_DISABLE_TELEMETRY=1 in the environment/);
  expect(await run(SEARCH_IN_WORKER, { ORT_DISABLE_TELEMETRY: '1' })).toBe('cat\n');
});

test('a worker thread that starts after the main thread used the model needs no variable', async () => {
  expect(await run(`await ${SEARCH}; ${SEARCH_IN_WORKER}`)).toBe('cat\ncat\n');
});
