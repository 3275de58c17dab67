import { createHash } from 'node:crypto';
import { mkdir, open, statfs } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { untilAborted } from '../../async/until-aborted.js';
import { CosiftError } from '../../errors.js';
import { writeFailure } from '../../files/secret-file.js';
import {
  type ArchivedFile,
  MANIFEST,
  type Manifest,
  parseManifest,
  readTar,
  type TarFile,
} from '../../store/archive/index.js';

/** Maximum bytes of a manifest, which has a few hundred for each database. */
const MAX_MANIFEST_BYTES = 64 << 20;

/**
 * Writes the files of an archive into `directory`, durably. Only what the manifest lists is written, and no more bytes
 * than it says.
 *
 * @throws {CosiftError} `damaged` when the archive is not complete or its content does not match the manifest;
 * `invalid_request` for a newer format; `disk_full`.
 */
export async function extract(
  chunks: AsyncIterable<Uint8Array>,
  directory: string,
  signal: AbortSignal,
): Promise<Manifest> {
  const archived = readTar(untilAborted(chunks, signal));
  const next = async () => (await archived.next()).value ?? undefined;
  try {
    const manifest = await readManifest(await next());
    await checkRoom(manifest, directory);
    for (const file of manifest.files) {
      const found = await next();
      if (found?.path !== file.path || found.bytes !== file.bytes) {
        throw new CosiftError('damaged', `it does not contain ${file.path} as its manifest says`);
      }
      await writeChecked(file, found.content, directory);
    }
    const extra = await next();
    if (extra === undefined) return manifest;
    const name = JSON.stringify(extra.path);
    throw new CosiftError('damaged', `it contains ${name}, which its manifest does not list`);
  } finally {
    // Ends the source of the chunks.
    await archived.return();
  }
}

async function readManifest(file: TarFile | undefined): Promise<Manifest> {
  if (file?.path !== MANIFEST || file.bytes > MAX_MANIFEST_BYTES) {
    throw new CosiftError('damaged', 'it is not a backup of cosift');
  }
  return parseManifest(await text(file.content));
}

async function checkRoom({ files }: Manifest, directory: string): Promise<void> {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bavail, bsize } = await statfs(directory);
  if (needed <= bavail * bsize) return;
  const detail = `the archive holds ${needed} bytes, and only ${bavail * bsize} are free for ${directory}`;
  throw new CosiftError('disk_full', detail);
}

async function writeChecked(
  file: ArchivedFile,
  content: AsyncIterable<Uint8Array>,
  directory: string,
): Promise<void> {
  const target = path.join(directory, ...file.path.split('/'));
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const handle = await open(target, 'wx', 0o600);
  try {
    for await (const part of content) {
      hash.update(part);
      await handle.writeFile(part).catch((error) => {
        throw writeFailure(target, error);
      });
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (hash.digest('hex') !== file.sha256) {
    throw new CosiftError('damaged', `the checksum of ${file.path} does not match`);
  }
}
