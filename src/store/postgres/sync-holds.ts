import { LinkedAbort } from '../../async/linked-abort.js';
import { sleep, within } from '../../async/sleep.js';
import { CosiftError } from '../../errors.js';
import type { SyncHold } from '../record-store.js';
import type { SqlDatabase } from './sql.js';

/** Milliseconds between two probes of a hold. The server ends a transaction that is idle for a minute. */
const PROBE_MS = 1_000;
/** Milliseconds after which a server that does not answer counts as lost, before it ends the transaction. */
const ANSWER_MS = 30_000;

/**
 * Takes the advisory lock of a sync, in a transaction that reads and writes nothing: the lock ends with the process, and
 * connections may go through a pooler.
 *
 * @throws {CosiftError} `busy` while another process has it.
 */
export async function holdSync(
  database: SqlDatabase,
  id: string,
  name: string,
  signal: AbortSignal,
): Promise<SyncHold> {
  const lost = new AbortController();
  // Such a database has one process, which opens a sync once.
  if (!database.isConcurrent) return { lost: lost.signal, release: async () => undefined };
  const released = new AbortController();
  // A hold outlives the signal, until it is released.
  const taking = new LinkedAbort(signal);
  let isTaken = false;
  let whenTaken: () => void = () => undefined;
  const taken = new Promise<void>((resolve) => {
    whenTaken = resolve;
  });
  const held = database.write(async (sql) => {
    // The transaction is repeated after its connection was lost.
    if (isTaken) throw lostHold(name);
    const [row] = await sql.run<{ taken: boolean }>(
      'SELECT pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) AS taken',
      [`cosift sync ${id}/${name}`],
    );
    if (row?.taken !== true) {
      throw new CosiftError('busy', `another process makes a pass of the sync "${name}"`);
    }
    isTaken = true;
    taking.unlink();
    whenTaken();
    for (;;) {
      await sleep(PROBE_MS, released.signal).catch(() => undefined);
      if (released.signal.aborted) return;
      if ((await within(ANSWER_MS, sql.run('SELECT 1'))) === undefined) throw lostHold(name);
    }
  }, taking.signal);
  const ended = held.catch((error) => {
    lost.abort(error);
  });
  try {
    // `held` does not resolve before it is released.
    await Promise.race([taken, held]);
  } finally {
    taking.unlink();
  }
  const release = async () => {
    released.abort();
    await ended;
  };
  return { lost: lost.signal, release };
}

function lostHold(name: string): CosiftError {
  return new CosiftError('hold_lost', `the lock of the sync "${name}" was lost with its connection`);
}
