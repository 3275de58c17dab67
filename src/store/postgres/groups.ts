import { createHash } from 'node:crypto';

/** The tables that describe databases. */
export interface Group {
  databases: string;
  columns: string;
  reembeddings: string;
}

/**
 * The databases of a store, in groups by their ids. A row and the tables of a database are at the place of its group, so
 * that each write is a transaction of one server. On Citus, the groups are spread over the workers; elsewhere there is one.
 */
export class Groups {
  readonly all: readonly Group[];

  constructor(count: number) {
    this.all = Array.from({ length: count }, (_, place) => groupOf(count === 1 ? '' : `_${place}`));
  }

  /** The group of a database. */
  of(id: string): Group {
    return this.all[this.placeOf(id)] as Group;
  }

  /** The place of the group of a database in `all`. */
  placeOf(id: string): number {
    const count = this.all.length;
    return count === 1 ? 0 : createHash('sha256').update(id).digest().readUInt32BE() % count;
  }

  /** The group of a database by its number, of which `placeOf` is the remainder. */
  ofNumber(number: number): Group {
    return this.all[number % this.all.length] as Group;
  }
}

function groupOf(suffix: string): Group {
  return {
    databases: `cosift.databases${suffix}`,
    columns: `cosift.columns${suffix}`,
    reembeddings: `cosift.reembeddings${suffix}`,
  };
}
