import { Command } from '../helpers/processes.js';

/**
 * Starts a service in a process of its own, sends it requests, and returns everything that the process has printed.
 * Each request is the target and the options of a `fetch`.
 */
export async function outputOf(
  args: readonly string[],
  env: Record<string, string>,
  requests: readonly (readonly [target: string, options: RequestInit])[],
): Promise<string> {
  const command = new Command(['serve', '--port', '0', '--log-level', 'trace', ...args], env);
  const [, url = ''] = await command.waitFor('stdout', /listening on (http:\S+)\n/);
  for (const [target, options] of requests) await (await fetch(url + target, options)).text();
  command.child.kill('SIGTERM');
  const code = await command.ended();
  const output = command.stdout + command.stderr;
  if (code !== 0) throw new Error(output);
  return output;
}
