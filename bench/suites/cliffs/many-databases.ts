import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BENCH_DIRECTORY } from '../../paths.js';
import type { Cliff, CliffCell } from './cliff.js';

/** Descriptors that the process may have: the default of most systems. */
const DESCRIPTORS = 1_024;
const PROCESS = join(BENCH_DIRECTORY, 'suites/cliffs/many-databases-process.ts');

/** What a process needs for many small databases, and their writes and searches compared with those of one of them. */
export const MANY_DATABASES: Cliff = {
  name: 'many small databases',
  async run() {
    const command = `ulimit -n ${DESCRIPTORS}; exec "$0" --import tsx "$1"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, PROCESS]);
    return JSON.parse(stdout) as CliffCell[];
  },
};
