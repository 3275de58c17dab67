import { spawnSync } from 'node:child_process';
import { ROOT_DIRECTORY } from '../paths.js';
import type { Values } from '../report/measurement.js';
import type { Session, Suite } from './session.js';

/** The kernels' own example, which compares a scan with a plain read of the same bytes. */
export const KERNELS: Suite = {
  name: 'kernels',
  about: 'a scan of a million records by batch size, beside a plain read of the same bytes',
  async run(session) {
    session.say('kernels');
    const run = spawnSync(
      'cargo',
      ['run', '--release', '--quiet', '-p', 'cosift-kernels', '--example', 'throughput'],
      {
        cwd: ROOT_DIRECTORY,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 2],
      },
    );
    if (run.status !== 0) {
      session.failures.push('kernels: the example did not run');
      return;
    }
    let layout = '';
    for (const line of run.stdout.split('\n')) {
      const head = /^(\w+): (.+ in the head), .*plain read ([\d.]+) ns/.exec(line);
      if (head !== null) {
        layout = `${head[1]} layout, ${head[2]}`;
        add(session, `${layout}: plain read`, { ns_a_record: Number(head[3]) });
      }
      const batch = /^ +(\d+) queries: +([\d.]+) ns a record, ([\d.]+) a query; ([\d.]+) times/.exec(line);
      if (batch !== null) {
        const [queries, record, query, times] = batch.slice(1).map(Number) as [
          number,
          number,
          number,
          number,
        ];
        const values = { ns_a_record: record, ns_a_record_and_query: query, times_plain_read: times };
        add(session, `${layout}: ${queries} queries in one pass`, values);
      }
      const other = /^ *(refine|rotate|exact)(.*): ([\d.]+) (ns|us)/.exec(line);
      if (other !== null) {
        add(session, `${layout}: ${other[1]}${other[2]}`, {
          ns_a_run: Number(other[3]) * (other[4] === 'us' ? 1_000 : 1),
        });
      }
    }
  },
};

function add(session: Session, cell: string, values: Values): void {
  session.measurements.push({
    suite: 'kernels',
    cell,
    system: 'cosift',
    records: 1_000_000,
    dimensions: 384,
    values,
  });
}
