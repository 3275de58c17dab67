import { createHash } from 'node:crypto';

/** The tables that describe databases. */
export interface Group {
  /** The place in `Groups.all`. */
  place: number;
  databases: string;
  columns: string;
  reembeddings: string;
  syncs: string;
}

/**
 * The databases of a store, in groups by their ids. A row and the tables of a database are at the place of its group, so
 * that each write is a transaction of one server. On Citus, the groups are spread over the workers; elsewhere there is one.
 */
export class Groups {
  readonly all: readonly Group[];

  constructor(count: number) {
    this.all = Array.from({ length: count }, (_, place) => groupOf(place, count));
  }

  of(id: string): Group {
    const { all } = this;
    const place = all.length === 1 ? 0 : createHash('sha256').update(id).digest().readUInt32BE() % all.length;
    return all[place] as Group;
  }

  /** The group of a database by its number, of which the place of the group is the remainder. */
  ofNumber(number: number): Group {
    return this.all[number % this.all.length] as Group;
  }
}

function groupOf(place: number, count: number): Group {
  const suffix = count === 1 ? '' : `_${place}`;
  return {
    place,
    databases: `cosift.databases${suffix}`,
    columns: `cosift.columns${suffix}`,
    reembeddings: `cosift.reembeddings${suffix}`,
    syncs: `cosift.syncs${suffix}`,
  };
}
