import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { CosiftError } from '../errors.js';

/** The C library that this process is linked with. Native modules are built for one of them. */
export function libcName(): 'glibc' | 'musl' | undefined {
  if (process.platform !== 'linux') return undefined;
  return glibcVersion() === undefined ? 'musl' : 'glibc';
}

/** Describes this machine for an error, such as `linux x64 (glibc 2.36, Node v20.20.2)`. */
export function describePlatform(): string {
  const libc = libcName();
  const version = libc === 'musl' ? muslVersion() : glibcVersion();
  const parts = [libc && [libc, version].filter(Boolean).join(' '), `Node ${process.version}`];
  return `${process.platform} ${process.arch} (${parts.filter(Boolean).join(', ')})`;
}

/** The maximum number of file descriptors of this process. */
export function maxDescriptors(): number {
  const limit = Number(diagnosticReport().userLimits?.open_files?.soft);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

/** A file or package that could not be loaded. */
export interface Attempt {
  name: string;
  cause: unknown;
}

/**
 * The error for a part of cosift that is not installed or does not fit this machine. It lists what was tried, with the
 * causes, and ends with the `fixes`.
 */
export function loadFailure(
  part: string,
  attempts: readonly Attempt[],
  fixes: readonly string[],
): CosiftError {
  const tried = attempts.map(({ name, cause }) => `- ${name}: ${reasonOf(cause)}`);
  const sections = [`${part} could not be loaded on ${describePlatform()}. Tried:`, ...tried, '', ...fixes];
  return new CosiftError('not_installed', sections.join('\n'), { cause: attempts.at(-1)?.cause });
}

/** The first line, because the rest of a failed `require` lists the files that led to it. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.split('\n', 1)[0]!;
}

/** Node reports the version of glibc, and nothing if it runs with another C library. */
function glibcVersion(): string | undefined {
  return diagnosticReport().header.glibcVersionRuntime;
}

/** A part of the diagnostic report of Node. Limits may be "unlimited"; Windows has none. */
interface Report {
  header: { glibcVersionRuntime?: string };
  userLimits?: { open_files?: { soft?: number | string } };
}

let made: Report | undefined;

/** Made once: it takes tens of milliseconds beside worker threads, because each of them adds a report of its own. */
function diagnosticReport(): Report {
  if (made !== undefined) return made;
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const before = report.excludeNetwork;
  // Otherwise the report looks up the host names of all open connections, which can take seconds.
  report.excludeNetwork = true;
  const { header, userLimits } = report.getReport() as unknown as Report;
  report.excludeNetwork = before ?? false;
  made = { header, ...(userLimits && { userLimits }) };
  return made;
}

/** The dynamic linker of musl prints its version if it is called without arguments. */
function muslVersion(): string | undefined {
  try {
    const linker = readdirSync('/lib').find((name) => name.startsWith('ld-musl-'));
    const { stderr } = spawnSync(`/lib/${linker}`, { encoding: 'utf8' });
    return /Version (\S+)/.exec(stderr)?.[1];
  } catch {
    return undefined;
  }
}
