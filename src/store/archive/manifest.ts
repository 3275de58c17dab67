import { CosiftError } from '../../errors.js';

/** Path of the manifest, which is the first file of an archive. */
export const MANIFEST = 'manifest.json';

/** Raised with every change of what an archive contains. */
export const ARCHIVE_FORMAT = 1;

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** What an archive of a backup contains. */
export interface Manifest {
  format: typeof ARCHIVE_FORMAT;
  /** Version of cosift that made the archive. */
  cosift: string;
  /** ISO 8601. */
  created_at: string;
  databases: ArchivedDatabase[];
  /** All files but the manifest, in their order in the archive. */
  files: ArchivedFile[];
}

/** A database as it was at the moment of the backup. */
export interface ArchivedDatabase {
  id: string;
  records: number;
  /** Number of the last commit. */
  version: number;
  /** Position of the last change in the change feed. */
  position: number;
  /** The epochs of the change feed, each with the position after which it begins; the first begins after 0. */
  epochs: { after: number; epoch: string }[];
  /** null: records and searches bring their own vectors. */
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
}

export interface ArchivedFile {
  /** Path in a data directory, with `/`. */
  path: string;
  bytes: number;
  /** SHA-256 of the content, in hexadecimal digits. */
  sha256: string;
}

/** Path of the store of a database in an archive and in a data directory. */
export function storeFile(id: string): string {
  return `databases/${id}/records.sqlite`;
}

/** The directory in a data directory for the files of a restore until all of them are checked. */
export const RESTORE_DIRECTORY = '.restore';

/** The files of a data directory that an archive contains besides the stores of its databases. */
export const OTHER_FILES = ['keys.json', 'webhooks.json', 'aliases.json'] as const;

/**
 * Parses a manifest and checks that its files are exactly those of its databases, so that no path leads out of a data
 * directory.
 *
 * @throws {CosiftError} `invalid_request` when the archive has a newer format; `damaged`.
 */
export function parseManifest(text: string): Manifest {
  let content: Partial<Manifest>;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new CosiftError('damaged', 'the manifest of the archive is not JSON', { cause });
  }
  const { format, cosift } = Object(content) as Partial<Manifest>;
  if (typeof format === 'number' && format > ARCHIVE_FORMAT) {
    const detail =
      `the archive has format ${format}, and this version of cosift reads format ${ARCHIVE_FORMAT}: ` +
      `restore it with cosift ${String(cosift)} or a later version`;
    throw new CosiftError('invalid_request', detail);
  }
  if (!isManifest(content)) throw new CosiftError('damaged', 'the manifest of the archive is not valid');
  return content;
}

function isManifest(content: Partial<Manifest>): content is Manifest {
  const { format, created_at, databases, files } = Object(content) as Partial<Manifest>;
  if (format !== ARCHIVE_FORMAT || !isTime(created_at)) return false;
  if (!Array.isArray(databases) || !databases.every(isDatabase)) return false;
  if (!Array.isArray(files) || !files.every(isFile)) return false;
  const paths = new Set(files.map(({ path }) => path));
  const stores = new Set(databases.map(({ id }) => storeFile(id)));
  if (paths.size !== files.length || stores.size !== databases.length) return false;
  for (const store of stores) if (!paths.has(store)) return false;
  const others: readonly string[] = OTHER_FILES;
  return files.every(({ path }) => stores.has(path) || others.includes(path));
}

function isDatabase(value: unknown): value is ArchivedDatabase {
  const { id, records, version, position, epochs, model, fingerprint, dimensions } = Object(
    value,
  ) as Partial<ArchivedDatabase>;
  return (
    typeof id === 'string' &&
    /^[a-z0-9_-]{1,64}$/.test(id) &&
    [records, version, position, dimensions].every(isCount) &&
    Array.isArray(epochs) &&
    epochs.every((part) => isCount(Object(part).after) && typeof Object(part).epoch === 'string') &&
    [model, fingerprint].every((text) => text === null || typeof text === 'string')
  );
}

function isFile(value: unknown): value is ArchivedFile {
  const { path, bytes, sha256 } = Object(value) as Partial<ArchivedFile>;
  return typeof path === 'string' && isCount(bytes) && /^[0-9a-f]{64}$/.test(String(sha256));
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
