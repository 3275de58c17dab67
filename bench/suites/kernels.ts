import { spawnSync } from 'node:child_process';
import { freemem } from 'node:os';
import { ROOT_DIRECTORY } from '../paths.js';
import type { Values } from '../report/measurement.js';
import type { Session, Suite } from './session.js';

const MILLION = 1_000_000;

/** Free memory that ten million codes of 384 dimensions need, with a reserve for the rest of the machine. */
const TEN_MILLION_BYTES = 8 * 2 ** 30;

/** The kernels' own example, which compares a scan with a plain read of the same bytes. */
export const KERNELS: Suite = {
  name: 'kernels',
  about:
    'a scan of a million codes, and of ten in a full run, by batch size, compared with a plain read of the same bytes',
  async run(session) {
    measure(session, MILLION);
    if (!session.full) return;
    if (freemem() < TEN_MILLION_BYTES) {
      session.failures.push('kernels: ten million codes need 8 GiB of free memory');
      return;
    }
    measure(session, 10 * MILLION);
  },
};

function measure(session: Session, records: number): void {
  session.say(`kernels, ${records / MILLION} million codes`);
  const example = ['run', '--release', '--quiet', '-p', 'cosift-kernels', '--example', 'throughput'];
  const run = spawnSync('cargo', [...example, String(records)], {
    cwd: ROOT_DIRECTORY,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  if (run.status !== 0) {
    session.failures.push('kernels: the example did not run');
    return;
  }
  const add = (cell: string, values: Values) =>
    session.measurements.push({ suite: 'kernels', cell, system: 'cosift', records, dimensions: 384, values });
  let layout = '';
  for (const line of run.stdout.split('\n')) {
    const head = /^(\w+): (.+ in the head), .*plain read ([\d.]+) ns/.exec(line);
    if (head !== null) {
      layout = `${head[1]} layout, ${head[2]}`;
      add(`${layout}: plain read`, { ns_a_record: Number(head[3]) });
    }
    const batch = /^ +(\d+) queries: +([\d.]+) ns a record, ([\d.]+) a query; ([\d.]+) times/.exec(line);
    if (batch !== null) {
      const [queries, record, query, times] = batch.slice(1).map(Number) as [number, number, number, number];
      const values = { ns_a_record: record, ns_a_record_and_query: query, times_plain_read: times };
      add(`${layout}: ${queries} queries in one pass`, values);
    }
    const other = /^ *(refine|rotate|exact)(.*): ([\d.]+) (ns|us)/.exec(line);
    if (other !== null) {
      add(`${layout}: ${other[1]}${other[2]}`, {
        ns_a_run: Number(other[3]) * (other[4] === 'us' ? 1_000 : 1),
      });
    }
  }
}
