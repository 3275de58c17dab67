import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import { aroundTransactions, type SqlDatabase } from './sql.js';

/**
 * A database whose transactions are given up after a time, for short transactions that others wait for. They then fail
 * with `timed_out`.
 */
export function limitedDatabase(database: SqlDatabase, limitMs: number): SqlDatabase {
  return aroundTransactions(database, async (run, signal) => {
    const limit = new AbortController();
    using stop = new LinkedAbort(limit.signal, signal);
    const late = () => limit.abort(new CosiftError('timed_out', 'the database took too long'));
    const timer = setTimeout(late, limitMs);
    try {
      return await run(stop.signal);
    } finally {
      clearTimeout(timer);
    }
  });
}
