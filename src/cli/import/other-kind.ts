import { validate } from 'uuid';
import type { Database } from '../../api/index.js';
import { isCode } from '../../errors.js';
import { contentOf, isIntegerId } from './identities.js';
import { type IdentityKind, idOfColumn } from './identity-column.js';
import type { Input } from './input.js';
import type { SourceRow } from './rows.js';

/** Rows that are compared with the database. */
const MAX_COMPARED = 8;

const KINDS = { id: 'integer ids', uuid: 'UUIDs', key: 'keys' } as const;

/**
 * Finds out whether an earlier import stored the same rows under another kind of identity: one more value decides whether
 * a column has integer ids or keys. All records would be stored twice.
 *
 * @throws {Error} when one of the first rows is a record of the database, with the same values.
 */
export async function refuseOtherKind(input: Input, database: Database): Promise<void> {
  const first = await input.firstIdentities();
  if (first === undefined) return;
  const { column, kind, rows } = first;
  for (const row of rows.slice(0, MAX_COMPARED)) {
    const text = idOfColumn(row, column);
    const earlier = otherIdentity(text, kind);
    if (earlier === undefined || !(await isStoredAs(database, earlier.identity, row, column))) continue;
    const advice =
      kind === 'key'
        ? `correct the other values of the column, or give --types ${column}=text to store all records by keys`
        : `give --types ${column}=text to keep the keys`;
    throw new Error(
      `the column "${column}" has ${KINDS[kind]}, but the database has the same records by ${KINDS[earlier.kind]}, ` +
        `such as "${text}", and they would be stored twice: ${advice}`,
    );
  }
}

/** Returns the identity that a value has if its column is of another kind. */
function otherIdentity(
  text: string,
  kind: IdentityKind,
): { kind: IdentityKind; identity: number | string } | undefined {
  if (kind !== 'key') return { kind: 'key', identity: `key:${text}` };
  if (isIntegerId(text)) return { kind: 'id', identity: Number(text) };
  return validate(text) ? { kind: 'uuid', identity: text } : undefined;
}

async function isStoredAs(
  database: Database,
  identity: number | string,
  row: SourceRow,
  column: string,
): Promise<boolean> {
  try {
    const found = await database.get(identity);
    // The service gives integer ids to records with keys, too.
    if (found === undefined || (typeof identity === 'number' && found.key !== undefined)) return false;
    const isData = (name: string) => name !== column && name !== 'uuid';
    const [names, stored] = [row.names.filter(isData), Object.keys(found.data).filter(isData)];
    const cells = names.map((name) => row.cells[row.names.indexOf(name)] ?? null);
    const values = stored.map((name) => found.data[name] ?? null);
    return contentOf(names, cells) === contentOf(stored, values);
  } catch (error) {
    // An API key may be allowed to write records, and not to read them.
    if (isCode(error, 'forbidden')) return false;
    throw error;
  }
}
