import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineDirectory } from '../../src/databases/index.js';
import type { DoctorCheck } from '../../src/schema/index.js';
import { makeDirectory } from '../helpers/doctor/make-directory.js';

let root: string;
let directory: string;
beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'cosift-doctor-'));
  directory = path.join(root, 'data');
  await makeDirectory(directory);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The digest of every file of the directory. */
function content(): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  const digest = (file: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(directory, file)))
      .digest('hex');
  return Object.fromEntries(
    files.filter((file) => statSync(path.join(directory, file)).isFile()).map((file) => [file, digest(file)]),
  );
}

async function* noFiles(): AsyncGenerator<DoctorCheck> {}

/** Examines the directory, and calls `abort` after it was asked for each check, and after each was given. */
async function examine(abort: (stop: AbortController, asked: number, given: number) => void) {
  const stop = new AbortController();
  const checks: DoctorCheck[] = [];
  const options = { directory, repair: false, files: noFiles };
  const run = examineDirectory(options, { signal: stop.signal });
  for (let asked = 1; ; asked++) {
    const next = run.next();
    abort(stop, asked, checks.length);
    const { value, done } = await next;
    if (done || value === undefined) return checks;
    checks.push(value);
    abort(stop, asked, checks.length);
  }
}

test.each([
  ['while it runs', 1, 0],
  ['after a check', 1, 1],
  ['while it runs again', 2, 1],
] as const)('stopped %s: the next run finds the directory as it was, and free', async (_, asked, given) => {
  const before = content();
  const stopped = examine((stop, asks, gave) => {
    if (asks === asked && gave === given) stop.abort(new Error('stopped'));
  });
  await expect(stopped).rejects.toThrow('stopped');
  expect(content()).toEqual(before);
  const checks = await examine(() => undefined);
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(content()).toEqual(before);
});
