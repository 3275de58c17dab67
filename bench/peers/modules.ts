import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BENCH_DIRECTORY } from '../paths.js';

const PEERS_DIRECTORY = join(BENCH_DIRECTORY, 'peers');
const requirePeer = createRequire(join(PEERS_DIRECTORY, 'package.json'));

/** Installs missing peers from their own lockfile, because they are no dependency of cosift. */
export function installPeers(): void {
  if (existsSync(join(PEERS_DIRECTORY, 'node_modules'))) return;
  process.stderr.write('installing the peers (once, about a minute and a half)\n');
  // Two peers list packages of other platforms that were never published. `npm ci` refuses such a lockfile.
  const install = ['install', '--no-save', '--no-audit', '--no-fund'];
  execFileSync('npm', install, { cwd: PEERS_DIRECTORY, stdio: ['ignore', 2, 2] });
}

/** Loads the module of a peer. `T` is the part that the adapter uses. */
export async function loadPeerModule<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(requirePeer.resolve(name)).href)) as T;
}

/** Loads a peer's CommonJS module. */
export function requirePeerModule<T>(name: string): T {
  return requirePeer(name) as T;
}

/** The installed version of a peer. */
export function peerVersion(name: string): string {
  return requirePeer(join(PEERS_DIRECTORY, 'node_modules', name, 'package.json')).version as string;
}
