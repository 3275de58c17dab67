// The Node versions that cosift is checked on, from packages that contain the binary of Node.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';

/** The oldest version that the packages allow, and the current one of each later major version. */
const VERSIONS = ['20.17', '22', '24'];

/** Returns the version and the binary of each Node. That of this process is used if it is one of them. */
export async function fetchNodes(directory, npm) {
  const nodes = [];
  for (const wanted of VERSIONS) {
    const binary = process.versions.node.startsWith(`${wanted}.`)
      ? process.execPath
      : await fetchNode(join(directory, `node-${wanted}`), wanted, npm);
    const version = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
    nodes.push({ version, binary });
  }
  return nodes;
}

async function fetchNode(directory, wanted, npm) {
  mkdirSync(directory, { recursive: true });
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}@${wanted}`;
  const packed = await npm(['pack', name, '--json', '--pack-destination', directory], { cwd: directory });
  const [{ filename }] = Object.values(JSON.parse(packed));
  await run('tar', ['-xzf', filename], { cwd: directory });
  const file = process.platform === 'win32' ? 'package/bin/node.exe' : 'package/bin/node';
  const binary = join(directory, file);
  if (!existsSync(binary)) throw new Error(`${name} has no ${file}`);
  return binary;
}
