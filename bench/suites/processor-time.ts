import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second, whatever the frequency of its clock is. */
const TICK_MS = 10;

/** Milliseconds of processor time that all threads of a process have taken; undefined where Linux does not tell. */
export function processorMs(pid: number): number | undefined {
  try {
    // The name of the process, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
