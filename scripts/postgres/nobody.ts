import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The user `nobody`: database servers refuse to run as root. */
const NOBODY = 65_534;

/** A new directory of the user that runs a server. */
export function makeDirectory(prefix: string, parent = tmpdir()): string {
  const directory = mkdtempSync(path.join(parent, prefix));
  if (isRoot()) chownSync(directory, NOBODY, NOBODY);
  return directory;
}

/** The user that runs a server, where this one may not. */
export function owner(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: NOBODY, gid: NOBODY } : {};
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
