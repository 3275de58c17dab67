import type { ScalarKind, SourceType } from '../column-readers.js';
import type { Snapshot } from './connection.js';

const KINDS: Readonly<Record<string, ScalarKind>> = {
  ...kindOf('number', 'int2 int4 int8 float4 float8 numeric'),
  ...kindOf('boolean', 'bool'),
  ...kindOf(
    'text',
    'text varchar bpchar name char uuid citext interval time timetz inet cidr macaddr macaddr8',
  ),
  ...kindOf('time', 'date timestamp timestamptz'),
  ...kindOf('json', 'json jsonb'),
};

function kindOf(kind: ScalarKind, names: string): Record<string, ScalarKind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]));
}

/** The types that domains are made of, and the elements of arrays, to any depth. */
const TYPES = `
  WITH RECURSIVE types AS (
    SELECT oid, typname, typtype, typcategory, typelem, typbasetype, format_type(oid, -1) AS name
    FROM pg_type WHERE oid = ANY($1::oid[])
    UNION
    SELECT t.oid, t.typname, t.typtype, t.typcategory, t.typelem, t.typbasetype, format_type(t.oid, -1)
    FROM types JOIN pg_type t ON t.oid IN (types.typelem, types.typbasetype)
  )
  SELECT oid::text, typname::text, typtype::text, typcategory::text, typelem::text, typbasetype::text, name FROM types`;

/** Returns the types with these oids. */
export async function sqlTypes(
  snapshot: Snapshot,
  oids: readonly number[],
): Promise<Map<number, SourceType>> {
  const rows = new Map((await snapshot.rows(TYPES, [oids])).map((row) => [row[0] as string, row]));
  const typeOf = (oid: string): SourceType | undefined => {
    const [, typname, typtype, category, element, base, name] = (rows.get(oid) ?? []) as string[];
    if (typname === undefined || name === undefined) return undefined;
    if (typtype === 'd') return { ...(typeOf(base as string) as SourceType), name };
    if (category === 'A') return { name, kind: undefined, element: typeOf(element as string) };
    return { name, kind: typtype === 'e' ? 'text' : typtype === 'b' ? KINDS[typname] : undefined };
  };
  return new Map(oids.map((oid) => [oid, typeOf(String(oid)) ?? { name: `type ${oid}`, kind: undefined }]));
}
