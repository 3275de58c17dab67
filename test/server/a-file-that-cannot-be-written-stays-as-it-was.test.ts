import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SECRET_FILE = fileURLToPath(new URL('../../src/files/secret-file.ts', import.meta.url));

/** In a process of few descriptors: writes with 0, 1, 2 … of them left, and reports the result of each. */
const PROGRAM = `
  import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
  import { writeSecret } from ${JSON.stringify(SECRET_FILE)};
  const [directory] = process.argv.slice(1);
  const file = directory + '/keys.json';
  await writeSecret(file, 'before');
  const outcomes = [];
  for (let left = 0; left < 5; left++) {
    const held = [];
    try { for (;;) held.push(openSync('/dev/null')); } catch {}
    for (const fd of held.splice(0, left)) closeSync(fd);
    const error = await writeSecret(file, 'after ' + left).then(() => undefined, (error) => error);
    for (const fd of held) closeSync(fd);
    outcomes.push({ left, code: error?.code, text: readFileSync(file, 'utf8'), files: readdirSync(directory) });
  }
  console.log(JSON.stringify(outcomes));`;

test('where descriptors run out, a refused write has not happened', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-descriptors-'));
  try {
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      'ulimit -n 80; exec "$0" --import tsx --input-type=module -e "$1" "$2"',
      process.execPath,
      PROGRAM,
      directory,
    ]);
    const outcomes = JSON.parse(stdout) as { left: number; code?: string; text: string; files: string[] }[];
    let last = 'before';
    for (const { left, code, text, files } of outcomes) {
      if (code === undefined) last = `after ${left}`;
      else expect(code, `${left} left`).toBe('store_failed');
      expect([left, text, files]).toEqual([left, last, ['keys.json']]);
    }
    expect(outcomes.map(({ code }) => code === undefined)).toEqual([false, false, true, true, true]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
