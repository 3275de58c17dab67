import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

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

/** Node reports the version of glibc, and nothing if it runs with another C library. */
function glibcVersion(): string | undefined {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const before = report.excludeNetwork;
  // Otherwise the report looks up the host names of all open connections, which can take seconds.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  report.excludeNetwork = before ?? false;
  return header.glibcVersionRuntime;
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
