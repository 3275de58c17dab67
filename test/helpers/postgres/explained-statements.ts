import type { SqlDatabase } from '../../../src/store/postgres/sql.js';
import { aroundStatements } from './around-statements.js';

/** A statement about records, and its plan as PostgreSQL prints it. */
export interface ExplainedStatement {
  text: string;
  plan: string;
}

/** Explains each statement about records or changes before it runs. */
export class ExplainedStatements {
  readonly statements: ExplainedStatement[] = [];
  readonly database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.database = aroundStatements(database, (sql) => ({
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
    }));
  }

  /** The statements of `work`. */
  async of(work: () => Promise<unknown>): Promise<ExplainedStatement[]> {
    this.statements.length = 0;
    await work();
    return [...this.statements];
  }
}
