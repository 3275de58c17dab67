import type { RecordForm } from '../record-store.js';
import type { Values } from './sql.js';

/** A match with its exact score in steps of 1e-9. */
export interface Match {
  id: number;
  uuid: string;
  score: number;
}

/** The order of matches: by score, then by the identity that the request shows. */
export class MatchOrder {
  readonly #isUuid: boolean;

  constructor(form: RecordForm) {
    this.#isUuid = form === 'uuid';
  }

  get column(): string {
    return this.#isUuid ? 'uuid' : 'id';
  }

  idOf({ id, uuid }: { id: number; uuid: string }): string {
    return this.#isUuid ? uuid : String(id);
  }

  /** The condition of the records whose identity, or that of the expression `of`, is at a place relative to `id`. */
  idSql(operator: '=' | '>' | '>=', id: string, values: Values, of = this.column): string {
    return `${of} ${operator} ${values.bind(id)}::${this.#isUuid ? 'uuid' : 'bigint'}`;
  }

  compare(a: Match, b: Match): number {
    if (a.score !== b.score) return b.score - a.score;
    if (!this.#isUuid) return a.id - b.id;
    return a.uuid < b.uuid ? -1 : Number(a.uuid > b.uuid);
  }

  isAfter(match: Match, { score, id }: { score: number; id: string }): boolean {
    if (match.score !== score) return match.score < score;
    return this.#isUuid ? match.uuid > id : match.id > Number(id);
  }
}
