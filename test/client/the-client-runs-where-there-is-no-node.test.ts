import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fan, Service } from '../server/service.js';

const DIST = path.resolve('dist');

/** The modules of Node that a module and what it imports at once need. */
function nodeModules(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)';/gm);
  return [...imports].flatMap(([, specifier = '']) => {
    if (specifier.startsWith('.')) return nodeModules(path.resolve(path.dirname(file), specifier), seen);
    return specifier.startsWith('node:') ? [`${path.relative(DIST, file)}: ${specifier}`] : [];
  });
}

test('the client imports no module of Node until a stream of lines is sent', () => {
  expect(nodeModules(path.join(DIST, 'client/index.js'))).toEqual([]);
  // The walk above finds what is there.
  expect(nodeModules(path.join(DIST, 'client/line-stream.js'))).toContain('client/line-stream.js: node:http');
});

test('the client writes and searches without the globals of Node', async () => {
  const service = await Service.start();
  const program = `
    const { Client } = await import(${JSON.stringify(`file://${DIST}/client/index.js`)});
    const print = console.log;
    for (const name of ['Buffer', 'process']) delete globalThis[name];
    const client = new Client(${JSON.stringify({ url: service.url, key: service.adminKey })});
    const vectors = await client.createDatabase('vectors', { dimensions: 2 });
    await vectors.upsert(${JSON.stringify(fan(3))});
    const { results } = await vectors.search({ search: { vector: [1, 0], threshold: 0 } });
    print(results.length);
  `;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
    ]);
    expect(stdout.trim()).toBe('3');
  } finally {
    await service.stop();
  }
});
