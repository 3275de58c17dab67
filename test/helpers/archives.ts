import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packTar } from 'modern-tar';
import { onTestFinished } from 'vitest';
import { type Manifest, readTar } from '../../src/store/archive/index.js';

/** A directory that is removed after the test. */
export async function testDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-backup-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Reads all chunks. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Yields `bytes` in one chunk. */
export async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export interface Entry {
  name: string;
  content: Buffer;
}

/** The files of an archive, the manifest first. */
export async function entriesOf(archive: Uint8Array): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const { path, content } of readTar(chunked(archive))) {
    entries.push({ name: path, content: await bytesOf(content) });
  }
  return entries;
}

export function manifestOf(entries: readonly Entry[]): Manifest {
  return JSON.parse(String(entries[0]?.content));
}

/** An archive of entries as they are, whatever the manifest says. */
export async function archiveOf(entries: readonly Entry[]): Promise<Buffer> {
  const files = entries.map(({ name, content }) => ({
    header: { name, size: content.length },
    body: new Uint8Array(content),
  }));
  return Buffer.from(await packTar(files));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
