import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTypeScript } from '../scripts/setup.mjs';

export default function setUp() {
  // The command line, the worker threads and the import of "cosift" by its name run from dist: it must be that of src.
  buildTypeScript();
  // The PostgreSQL servers of a run begin with copies of one cluster. They may run as another user.
  const clusters = mkdtempSync(join(tmpdir(), 'cosift-clusters-'));
  chmodSync(clusters, 0o711);
  process.env.POSTGRES_CLUSTERS = clusters;
  return () => rmSync(clusters, { recursive: true, force: true });
}
