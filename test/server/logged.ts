import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a service in a process of its own, sends it requests, and returns everything that the process has printed.
 * Each request is the target and the options of a `fetch`.
 */
export async function outputOf(
  flags: Record<string, unknown>,
  env: Record<string, string>,
  requests: readonly (readonly [target: string, options: RequestInit])[],
): Promise<string> {
  const program = `
    import { start } from './src/server/main.js';
    import { resolveConfig } from './src/config/index.js';
    const [flags, env, requests] = JSON.parse(process.argv[1]);
    const server = await start(resolveConfig(flags, env).config, { print: () => undefined });
    for (const [target, options] of requests) await (await fetch(server.url + target, options)).text();
    await server.close();
  `;
  const argument = JSON.stringify([{ port: 0, logLevel: 'trace', ...flags }, env, requests]);
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, argument], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(output);
  return output;
}
