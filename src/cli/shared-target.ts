import { isCode } from '../errors.js';
import { readAddress } from '../files/address-file.js';
import type { Target } from '../mcp/index.js';
import { connection, openTarget, type TargetOptions } from './target.js';

/** Opens what a command works on. If a server has the directory open, the server answers. */
export async function openShared(options: TargetOptions): Promise<Target> {
  const { remoteTarget } = await import('../mcp/index.js');
  const { url, data } = options;
  if (url !== undefined) return remoteTarget(connection(url, options));
  try {
    return { databases: await openTarget(options) };
  } catch (error) {
    const address = isCode(error, 'data_locked') ? await readAddress(data) : undefined;
    if (address === undefined) throw error;
    return remoteTarget(connection(address, { ...options, url: address }));
  }
}
