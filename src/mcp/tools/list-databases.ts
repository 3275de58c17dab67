import { sizeOf } from '../../agents/excerpt.js';
import { BUDGET } from '../../agents/shown-records.js';
import type { CallOptions, Database } from '../../api/index.js';
import { CosiftError, isCode } from '../../errors.js';
import { count, list, object } from '../../schema/json-schema.js';
import type { Target } from '../target.js';
import { database, notes, type Tool } from '../tool.js';

interface Arguments {
  database?: string;
}

interface Described {
  id: string;
  records: number;
  columns: readonly { name: string; types: readonly string[] }[];
}

type Shown = Described & { left_out?: number };

/** From how many records the columns are taken where the key may not describe databases. */
const SAMPLE = 20;

export const LIST_DATABASES: Tool<Arguments> = {
  name: 'list_databases',
  title: 'List databases',
  description:
    'Lists the databases with the number of their records, and their columns with the types of their values and the number of ' +
    'records that have them.',
  input: object(undefined, {
    'database?': {
      ...database,
      description: 'Only this database, with all columns that fit. Default: all databases.',
    },
  }),
  output: object(undefined, {
    notes,
    databases: list({ type: 'object' }, 'The databases, ordered by id.'),
    'left_out?': count('Databases for which there was no room.'),
  }),
  run: async ({ database }, target, { signal, mayGet }) => {
    const { described, isSampled } = await describe(target, database, { signal });
    const share = Math.floor(BUDGET / Math.max(1, described.length));
    const fitting = described.slice(0, Math.floor(BUDGET / MIN_SHARE)).map((one) => withinShare(one, share));
    const leftOut = described.length - fitting.length;
    return {
      notes: [
        described.length === 1 ? '1 database.' : `${described.length} databases.`,
        ...(isSampled ? [SAMPLED] : []),
        ...(leftOut > 0 ? [`${leftOut} are left out.`] : []),
        ...(fitting.some(({ left_out }) => left_out !== undefined)
          ? [mayGet ? `${FEWER}${GET}.` : `${FEWER}.`]
          : []),
      ],
      members: { databases: fitting, ...(leftOut > 0 && { left_out: leftOut }) },
      data: fitting,
    };
  },
};

const SAMPLED = `The key may not describe databases, so the columns are those of up to ${SAMPLE} records that it sees.`;
const FEWER = 'Some columns are left out: `database` shows more of one database';
const GET = ', and `get` shows all of a record';

/** Characters that a database takes without its columns. */
const MIN_SHARE = 120;

async function describe(
  { databases, ownKey }: Target,
  id: string | undefined,
  options: CallOptions,
): Promise<{ described: Described[]; isSampled: boolean }> {
  try {
    const described =
      id === undefined
        ? await databases.databases(options)
        : [await databases.database(id).describe(options)];
    return { described, isSampled: false };
  } catch (error) {
    if (!isCode(error, 'forbidden') || ownKey === undefined) throw error;
    const ids = id === undefined ? (await ownKey(options)).databases : [id];
    if (ids === '*') {
      const detail = `${error.detail}; search and query take the id of a database, which whoever runs the agent knows`;
      throw new CosiftError('forbidden', detail, { cause: error });
    }
    const sampled = ids.sort().map((id) => sample(databases.database(id), options));
    // A key may name databases that there are not.
    const found = await Promise.all(id === undefined ? sampled.map(orNone) : sampled);
    return { described: found.filter((one) => one !== undefined), isSampled: true };
  }
}

async function orNone(described: Promise<Described>): Promise<Described | undefined> {
  try {
    return await described;
  } catch (error) {
    if (isCode(error, 'database_not_found')) return undefined;
    throw error;
  }
}

/** Describes a database by what a query shows of it. */
async function sample(database: Database, options: CallOptions): Promise<Described> {
  const { results, total } = await database.query({ ...options, limit: SAMPLE, total: true });
  const types = new Map<string, Set<string>>();
  for (const [name, value] of results.flatMap(({ data }) => Object.entries(data))) {
    types.set(name, (types.get(name) ?? new Set()).add(typeOf(value)));
  }
  const columns = [...types].map(([name, found]) => ({ name, types: [...found] }));
  return { id: database.id, records: total?.value ?? 0, columns };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Shows the first columns for which there is room. */
function withinShare({ id, records, columns }: Described, share: number): Shown {
  let room = share - MIN_SHARE;
  const shown = columns.findIndex((column) => {
    room -= sizeOf(column) + 1;
    return room < 0;
  });
  if (shown < 0) return { id, records, columns };
  return { id, records, columns: columns.slice(0, shown), left_out: columns.length - shown };
}
