// Runs commands as a user would: without the variables that npm sets for scripts, and without those of a developer.
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

const OURS = /^(npm_|INIT_CWD$|NODE_(OPTIONS|PATH|ENV)$|COSIFT_|CI$)/i;

/** The environment of a user whose `node` is the given one. */
export function userEnvironment(node = process.execPath) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  return { ...env, PATH: [dirname(node), ...path].join(delimiter) };
}

/** Runs a command and returns what it prints. Fails, with all its output, unless it ends with code 0. */
export async function run(command, args, { cwd, node, env } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...userEnvironment(node), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const ended = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  if (ended === 0) return output.stdout;
  const line = [command, ...args].join(' ');
  throw new Error(`${line}\nended with ${ended}\n${output.stdout}\n${output.stderr}`);
}
