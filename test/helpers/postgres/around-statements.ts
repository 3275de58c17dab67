import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** A database whose transactions run the statements of what `around` returns, which is called once for each. */
export function aroundStatements(database: SqlDatabase, around: (sql: Sql) => Sql): SqlDatabase {
  return {
    isConcurrent: database.isConcurrent,
    read: (work, signal) => database.read((sql) => work(around(sql)), signal),
    write: (work, signal) => database.write((sql) => work(around(sql)), signal),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    close: () => database.close(),
  };
}

/**
 * A database whose statements a test reads or changes before they run. `begin` is called once per transaction, and returns
 * what changes the statements of the transaction.
 */
export function changedStatements(database: SqlDatabase, begin: () => (text: string) => string): SqlDatabase {
  return aroundStatements(database, (sql) => {
    const change = begin();
    return { run: (text, values) => sql.run(change(text), values) };
  });
}

/** Appends the number of bytes that each statement reads to `lengths`. */
export function countedDatabase(database: SqlDatabase, lengths: number[]): SqlDatabase {
  return aroundStatements(database, (sql) => ({
    run: async <Row>(text: string, values = [] as never) => {
      const rows = await sql.run<Row>(text, values);
      lengths.push(Buffer.byteLength(JSON.stringify(rows)));
      return rows;
    },
  }));
}
