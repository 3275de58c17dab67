import { existsSync } from 'node:fs';
import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { ALIASES_FILE } from '../../databases/index.js';
import { ADDRESS_FILE } from '../../files/address-file.js';
import { parseChecked } from '../../files/checked-file.js';
import { readIfExists } from '../../files/secret-file.js';
import type { DoctorCheck } from '../../schema/index.js';
import { DATABASE_ID } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { RESTORE_DIRECTORY } from '../../store/archive/index.js';
import { readKeys } from '../keys/key-file.js';
import { keyIdOf } from '../keys/key-format.js';
import { WEBHOOKS_FILE } from '../webhooks/webhook-file.js';

/** A commit may need this room: twice the size that the log of a database keeps. */
const MIN_FREE_BYTES = 128 << 20;

/** Files and directories of a data directory. */
const KNOWN = new Set([
  'lock',
  ADDRESS_FILE,
  'admin.key',
  'keys.json',
  'keys.json.locked',
  'webhooks.json',
  'aliases.json',
  'migration.json',
  'databases',
  'models',
  RESTORE_DIRECTORY,
]);
const TEMPORARY = /^(address|admin\.key|keys\.json|webhooks\.json|aliases\.json)\.\d+\.tmp$/;

/** Directories of `databases` that the next start finishes or removes. */
const UNFINISHED = /^\.(new|dropped|next|ready)-/;

/** Checks what a data directory has beside its databases, and changes nothing. */
export async function* checkFiles(directory: string): AsyncGenerator<DoctorCheck, void, undefined> {
  const file = (name: string) => path.join(directory, name);
  yield await checkAccess(directory);
  yield await checkEntries(directory);
  yield await check('keys', 'keys.json', async () => {
    const keys = readKeys(file('keys.json'));
    await checkSecret(directory, 'keys.json');
    return `${keys.length} issued keys`;
  });
  yield await check('webhooks', 'webhooks.json', async () => {
    const text = await readIfExists(file('webhooks.json'));
    const webhooks = text === undefined ? [] : parseChecked('webhooks.json', text, WEBHOOKS_FILE);
    await checkSecret(directory, 'webhooks.json');
    return `${webhooks.length} webhooks`;
  });
  yield await check('aliases', 'aliases.json', async () => {
    const text = await readIfExists(file('aliases.json'));
    const aliases = text === undefined ? [] : parseChecked('aliases.json', text, ALIASES_FILE);
    return `${aliases.length} aliases`;
  });
  yield await check('admin_key', 'admin.key', async () => {
    const text = await readIfExists(file('admin.key'));
    const key = text?.trim();
    if (key === undefined) return 'there is none: COSIFT_ADMIN_KEY sets it, or the next start makes one';
    if (key === '' || (key.startsWith('cosift_') && keyIdOf(key) === undefined)) {
      throw new Error('admin.key is damaged: remove it, and the next start makes a new admin key');
    }
    await checkSecret(directory, 'admin.key');
    return 'its checksum matches, or it was given';
  });
  yield await check('free_space', directory, async () => {
    const { bavail, bsize } = await statfs(directory);
    const free = bavail * bsize;
    if (free < MIN_FREE_BYTES) {
      throw new Error(
        `${megabytes(free)} are free, but a commit may need ${megabytes(MIN_FREE_BYTES)}: free some`,
      );
    }
    return `${megabytes(free)} are free`;
  });
}

/** Runs a check, which returns what it found in order, or throws what is wrong and, after a colon, what to do. */
async function check(name: string, file: string, run: () => Promise<string>): Promise<DoctorCheck> {
  try {
    return { check: name, status: 'ok', detail: await run() };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const at = text.lastIndexOf(': ');
    const detail = at < 0 ? text : text.slice(0, at);
    const advice = at < 0 ? `restore ${file} from a backup` : text.slice(at + 2);
    return { check: name, status: 'problem', detail, problems: [{ detail }], advice };
  }
}

/** Throws when others may read a file with secrets, and may enter its directory. */
async function checkSecret(directory: string, name: string): Promise<void> {
  if (process.platform === 'win32') return;
  const modes = await Promise.all([stat(directory), stat(path.join(directory, name)).catch(() => undefined)]);
  const open = modes.every((found) => found !== undefined && (found.mode & 0o077) !== 0);
  if (open) throw new Error(`other users may read ${name}: run chmod 600 ${path.join(directory, name)}`);
}

async function checkAccess(directory: string): Promise<DoctorCheck> {
  return check('access', directory, async () => {
    const denied = [];
    let files = 0;
    for (const entry of await readdir(directory, { recursive: true })) {
      files += 1;
      const file = path.join(directory, entry);
      // A file may be removed meanwhile.
      const failure = await access(file, constants.R_OK | constants.W_OK).catch((error) => error);
      if (failure !== undefined && failure.code !== 'ENOENT') denied.push(entry);
    }
    if (denied.length > 0) {
      const more = denied.length > 3 ? ', …' : '';
      throw new Error(
        `this user may not read and write ${denied.length} files (${denied.slice(0, 3).join(', ')}${more}): give them to the user of the service with chown`,
      );
    }
    return `this user may read and write all ${files} files`;
  });
}

async function checkEntries(directory: string): Promise<DoctorCheck> {
  return check('entries', directory, async () => {
    const entries = await readdir(directory);
    if (entries.includes(RESTORE_DIRECTORY) && !entries.includes('databases')) {
      throw new Error('a restore into this directory was not finished: run it again');
    }
    const others = entries.filter((name) => !KNOWN.has(name) && !TEMPORARY.test(name));
    const root = path.join(directory, 'databases');
    for (const name of await readdir(root).catch(() => [])) {
      if (DATABASE_ID.test(name)) continue;
      const isStore = existsSync(path.join(root, name, 'records.sqlite'));
      if (isStore && !UNFINISHED.test(name)) {
        throw new Error(
          `the database in "${name}" is not served, because that is no database id: rename it to 1 to 64 of a-z 0-9 _ -`,
        );
      }
      if (!isStore && !UNFINISHED.test(name)) others.push(`databases/${name}`);
    }
    if (others.length === 0) return 'every file belongs to cosift';
    const more = others.length > 3 ? ', …' : '';
    return `files that are not of cosift are ignored: ${others.slice(0, 3).join(', ')}${more}`;
  });
}

function megabytes(bytes: number): string {
  return `${count(Math.floor(bytes / (1 << 20)))} MiB`;
}
