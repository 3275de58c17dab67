import { sizeOf } from '../../agents/excerpt.js';
import { CUT } from '../../agents/search-tool.js';
import { haveMore, shownRecords } from '../../agents/shown-records.js';
import { recordId } from '../../schema/ids.js';
import { count, list, object } from '../../schema/json-schema.js';
import type { StoredRecord } from '../../schema/public-types.js';
import { columns, database, notes, type Tool } from '../tool.js';

interface Arguments {
  database: string;
  ids: (number | string)[];
  columns?: string[];
  start?: number;
}

export const GET: Tool<Arguments> = {
  name: 'get',
  title: 'Get records',
  description:
    'Returns records by their ids, with as much of their values as there is room for. One record, or fewer columns, show more. ' +
    'start reads on in a long text or list.',
  action: 'records.read',
  input: object(undefined, {
    database,
    ids: list(recordId, 'Ids of records: integers, UUIDs, or `key:` and a key.', {
      minItems: 1,
      maxItems: 20,
    }),
    'columns?': columns,
    'start?': count(
      'The character with which texts begin, and the JSON of lists: the rest of a value that was cut. Default: 0.',
    ),
  }),
  output: object(undefined, {
    notes,
    results: list({ type: 'object' }, 'The records that there are, in the order of the ids.'),
    'missing?': list(recordId, 'The ids without a record.'),
  }),
  run: async ({ database, ids, columns, start = 0 }, { databases }, { signal }) => {
    const found = await databases.database(database).getMany(ids, { signal });
    const records = found.filter((record) => record !== undefined);
    const missing = ids.filter((_, at) => found[at] === undefined);
    const shown = shownRecords(
      records.map((record) => withColumns(record, columns)),
      { start, taken: sizeOf(missing) },
    );
    return {
      notes: [
        `${shown.length} of ${ids.length} records found.`,
        ...(haveMore(shown) ? [`${CUT}; ${READ_ON}`] : []),
      ],
      members: { results: shown, ...(missing.length > 0 && { missing }) },
      data: shown,
    };
  },
};

const READ_ON =
  'that of a list is a part of its JSON. To read on, get one record, and name the column in `columns` and `start` plus ' +
  '`shown` in `start`.';

function withColumns(record: StoredRecord, columns: readonly string[] | undefined): StoredRecord {
  if (columns === undefined) return record;
  const data = Object.entries(record.data).filter(([column]) => columns.includes(column));
  return { ...record, data: Object.fromEntries(data) };
}
