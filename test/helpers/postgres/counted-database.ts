import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** Appends the number of bytes that each statement reads to `lengths`. */
export function countedDatabase(database: SqlDatabase, lengths: number[]): SqlDatabase {
  const counted = (sql: Sql): Sql => ({
    run: async <Row>(text: string, values = [] as never) => {
      const rows = await sql.run<Row>(text, values);
      lengths.push(Buffer.byteLength(JSON.stringify(rows)));
      return rows;
    },
  });
  return {
    isConcurrent: database.isConcurrent,
    read: (work, signal) => database.read((sql) => work(counted(sql)), signal),
    write: (work, signal) => database.write((sql) => work(counted(sql)), signal),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    close: () => database.close(),
  };
}
