import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** A statement about records, and its plan as PostgreSQL prints it. */
export interface ExplainedStatement {
  text: string;
  plan: string;
}

/** A database that explains each statement about records or changes before it runs. */
export class ExplainedStatements implements SqlDatabase {
  readonly isConcurrent: boolean;
  readonly statements: ExplainedStatement[] = [];
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.isConcurrent = database.isConcurrent;
  }

  /** The statements of `work`. */
  async of(work: () => Promise<unknown>): Promise<ExplainedStatement[]> {
    this.statements.length = 0;
    await work();
    return [...this.statements];
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.read((sql) => work(this.#explained(sql)), signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.write((sql) => work(this.#explained(sql)), signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#database.listen(channel, onMessage);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #explained(sql: Sql): Sql {
    return {
      run: async (text, values) => {
        if (
          /^(SELECT|INSERT|UPDATE|DELETE)\b/.test(text) &&
          /cosift\.(records|passages|changes)_/.test(text)
        ) {
          const lines = await sql.run<Record<string, string>>(`EXPLAIN (COSTS OFF) ${text}`, values);
          this.statements.push({ text, plan: lines.map((line) => line['QUERY PLAN']).join('\n') });
        }
        return await sql.run(text, values);
      },
    };
  }
}
