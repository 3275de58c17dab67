import { FairLimiter } from '../../async/fair-limiter.js';
import { isCode } from '../../errors.js';
import { serversOf } from './distribution.js';
import type { Group, Groups } from './groups.js';
import { limitedDatabase } from './limited-database.js';
import { groupsOf } from './schema.js';
import { aroundTransactions, type Sql, type SqlDatabase } from './sql.js';

/** Milliseconds that one of several servers may take for what is read from all of them. */
const LIMIT_MS = 1_500;
/** Milliseconds after which it is looked up again which server has which databases. */
const LOOK_MS = 60_000;

/** Groups of databases at one server. */
interface Server {
  name: string;
  groups: readonly Group[];
}

interface Known {
  groups: Groups;
  servers: readonly Server[];
}

/**
 * The servers that have the databases of a store: the workers of Citus, or one. While a worker does not answer, what waits
 * for it takes no more than its share of the connections.
 */
export class Servers {
  readonly database: SqlDatabase;
  readonly #connections: number | undefined;
  #groups: Groups | undefined;
  /** Empty where there is one; undefined until they were looked up. */
  #servers: readonly Server[] | undefined;
  #nameOf: ReadonlyMap<Group, string> = new Map();
  /** The connections of one of several servers. */
  #share: number | undefined;
  #limiter: FairLimiter | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `connections`: how many `database` has; undefined if that is not known. */
  constructor(database: SqlDatabase, connections: number | undefined) {
    this.database = database;
    this.#connections = connections;
  }

  /** The connections for the transactions of a database. */
  of(id: string): SqlDatabase {
    const limiter = this.#limiter;
    if (limiter === undefined) return this.database;
    if (performance.now() - this.#lookedAt > LOOK_MS) this.#look().catch(() => undefined);
    const server = this.#nameFor(id);
    return aroundTransactions(this.database, (run, signal) =>
      limiter.run(server, () => run(signal), { signal }),
    );
  }

  /** See `RecordStore.callsOf`. A quarter of the connections is left for everything else. */
  callsOf(id: string): { server: string; atOnce: number } | undefined {
    const connections = this.#share ?? this.#connections;
    if (connections === undefined) return undefined;
    return { server: this.#nameFor(id), atOnce: Math.max(1, Math.floor((connections * 3) / 4)) };
  }

  /** The name of the server of a database. */
  #nameFor(id: string): string {
    return (this.#groups && this.#nameOf.get(this.#groups.of(id))) ?? '';
  }

  /** The groups of databases, which never change. Once they are known, a statement need not wait for them. */
  groups(sql: Sql): Groups | Promise<Groups> {
    return this.#groups ?? this.#readGroups(sql);
  }

  async #readGroups(sql: Sql): Promise<Groups> {
    const groups = await groupsOf(sql);
    this.#groups ??= groups;
    return this.#groups;
  }

  /** What is known of a store with one server: it never changes. */
  #onlyServer(): Known | undefined {
    const [groups, servers] = [this.#groups, this.#servers];
    return groups !== undefined && servers?.length === 0 ? { groups, servers } : undefined;
  }

  /** Looks up which server has which databases. */
  async #look(database = this.database): Promise<Known> {
    this.#lookedAt = performance.now();
    const { groups, names } = await database.read(async (sql) => {
      const groups = await this.groups(sql);
      return { groups, names: groups.all.length === 1 ? [] : await serversOf(sql, groups.all) };
    });
    const different = [...new Set(names)];
    const count = different.length < 2 ? 0 : different.length;
    const total = this.#connections;
    if (count !== (this.#servers?.length ?? 0) && total !== undefined) {
      // An export takes two.
      this.#share = count === 0 ? undefined : Math.max(2, Math.floor(total / count));
      this.#limiter =
        this.#share === undefined ? undefined : new FairLimiter({ total, perCaller: this.#share });
    }
    this.#nameOf = new Map(groups.all.map((group, place) => [group, names[place] ?? '']));
    const servers = different.slice(0, count).map((name) => ({
      name,
      groups: groups.all.filter((_, place) => names[place] === name),
    }));
    this.#servers = servers;
    return { groups, servers };
  }

  /**
   * Reads something of the databases of all groups: in one transaction where there is one server, and else in one for each of
   * them. Returns the groups whose servers did not answer, too.
   */
  async readAll<T>(
    work: (sql: Sql, group: Group) => Promise<T>,
    { database = this.database, signal }: { database?: SqlDatabase; signal?: AbortSignal | undefined } = {},
  ): Promise<{ answers: T[]; silent: ReadonlySet<Group>; groups: Groups }> {
    const { groups, servers } = this.#onlyServer() ?? (await this.#look(database));
    const readFrom = (some: readonly Group[]) => async (sql: Sql) => {
      const answers: T[] = [];
      for (const group of some) answers.push(await work(sql, group));
      return answers;
    };
    if (servers.length === 0) {
      const answers = await database.read(readFrom(groups.all), signal);
      return { answers, silent: new Set(), groups };
    }
    const silent = new Set<Group>();
    const limited = limitedDatabase(this.database, LIMIT_MS);
    const lists = await Promise.all(
      servers.map(async ({ groups: own }) => {
        try {
          return await limited.read(readFrom(own), signal);
        } catch (error) {
          signal?.throwIfAborted();
          if (!isCode(error, 'store_failed') && !isCode(error, 'timed_out')) throw error;
          for (const group of own) silent.add(group);
          return [];
        }
      }),
    );
    return { answers: lists.flat(), silent, groups };
  }
}
