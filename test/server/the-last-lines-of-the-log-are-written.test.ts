import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';

const LOG_STREAM = new URL('../../src/server/observability/log-stream.ts', import.meta.url).href;

/** What a program that writes two lines into the log and then ends by `end` writes to standard error. */
const logOf = (end: string) =>
  new Promise<string>((resolve) => {
    const program = `
      import { LOG_STREAM } from ${JSON.stringify(LOG_STREAM)};
      for (let line = 1; line <= 2; line++) LOG_STREAM.write(\`line \${line}\\n\`);
      ${end}
    `;
    execFile(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      (_error, _stdout, stderr) => resolve(stderr),
    );
  });

test('a process that goes on, exits or fails writes every line of its log', async () => {
  const lines = 'line 1\nline 2\n';
  expect(await logOf('')).toBe(lines);
  expect(await logOf('process.exit(1)')).toBe(lines);
  expect(await logOf('throw new Error("fails")')).toContain(lines);
});
