import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { ROOT_DIRECTORY } from '../paths.js';

const TELLING_FLAGS = [
  'avx2',
  'fma',
  'avx_vnni',
  'avx512f',
  'avx512bw',
  'avx512vl',
  'avx512_vnni',
  'avx512vbmi',
  'amx_int8',
  'asimddp',
];

/** Facts about the machine that a reader needs to judge the figures. */
export function describeMachine(): Record<string, string> {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: String(availableParallelism()),
    instructions: flags().join(' ') || 'unknown',
    caches: caches(),
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    commit: commit(),
  };
}

function flags(): string[] {
  const text = quietly(() => readFileSync('/proc/cpuinfo', 'utf8'));
  const words = new Set(/^(?:flags|Features)\s*:(.*)$/m.exec(text)?.[1]?.split(' '));
  return TELLING_FLAGS.filter((flag) => words.has(flag));
}

function caches(): string {
  const levels = [0, 1, 2, 3].map((index) => {
    const read = (name: string) =>
      quietly(() => readFileSync(`/sys/devices/system/cpu/cpu0/cache/index${index}/${name}`, 'utf8').trim());
    return read('size') === '' ? '' : `L${read('level')} ${read('type').toLowerCase()} ${read('size')}`;
  });
  return levels.filter((level) => level !== '').join(', ') || 'unknown';
}

function commit(): string {
  return quietly(() =>
    execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT_DIRECTORY, encoding: 'utf8' }).trim(),
  );
}

/** Returns an empty text for a fact that this operating system does not provide. */
function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
