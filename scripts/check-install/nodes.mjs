// The Node versions that cosift is checked on, from packages that contain the binary of Node.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';

const MAJORS = [20, 22, 24];

/** Returns the version and the binary of each Node. That of this process is used for its own major version. */
export async function fetchNodes(directory, npm) {
  const nodes = [];
  for (const major of MAJORS) {
    const binary =
      process.versions.node.split('.')[0] === String(major)
        ? process.execPath
        : await fetchNode(join(directory, `node-${major}`), major, npm);
    const version = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
    nodes.push({ version, binary });
  }
  return nodes;
}

async function fetchNode(directory, major, npm) {
  mkdirSync(directory, { recursive: true });
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}@${major}`;
  const packed = await npm(['pack', name, '--json', '--pack-destination', directory], { cwd: directory });
  const [{ filename }] = Object.values(JSON.parse(packed));
  await run('tar', ['-xzf', filename], { cwd: directory });
  const file = process.platform === 'win32' ? 'package/bin/node.exe' : 'package/bin/node';
  const binary = join(directory, file);
  if (!existsSync(binary)) throw new Error(`${name} has no ${file}`);
  return binary;
}
