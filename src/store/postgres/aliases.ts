import type { Alias } from '../../schema/index.js';
import { aliasOfOther, databaseOfAlias, refuseNamed } from '../store-errors.js';
import type { Sql } from './sql.js';

/** The aliases, in the order of their names. */
export async function aliases(sql: Sql): Promise<Alias[]> {
  return await sql.run<Alias>('SELECT name, database FROM cosift.aliases ORDER BY name');
}

export async function findAlias(sql: Sql, name: string): Promise<string | undefined> {
  const text = 'SELECT database FROM cosift.aliases WHERE name = $1::text';
  const [row] = await sql.run<{ database: string }>(text, [name]);
  return row?.database;
}

export async function setAlias(
  sql: Sql,
  databases: Record<'find' | 'findIfExists', (sql: Sql, id: string) => Promise<object | undefined>>,
  { name, database }: Alias,
): Promise<{ created: boolean }> {
  await lockAliases(sql);
  if ((await databases.findIfExists(sql, name)) !== undefined) throw databaseOfAlias(name);
  await databases.find(sql, database);
  const created = (await findAlias(sql, name)) === undefined;
  await sql.run(
    `INSERT INTO cosift.aliases (name, database) VALUES ($1::text, $2::text)
    ON CONFLICT (name) DO UPDATE SET database = excluded.database`,
    [name, database],
  );
  return { created };
}

export async function deleteAlias(sql: Sql, name: string): Promise<boolean> {
  const text = 'DELETE FROM cosift.aliases WHERE name = $1::text RETURNING name';
  return (await sql.run(text, [name])).length > 0;
}

/** Refuses to create a database with the name of an alias, until the end of the transaction. */
export async function refuseName(sql: Sql, id: string): Promise<void> {
  await lockAliases(sql);
  if ((await findAlias(sql, id)) !== undefined) throw aliasOfOther(id);
}

/** Refuses to drop a database that an alias names, until the end of the transaction. */
export async function refuseIfNamed(sql: Sql, id: string): Promise<void> {
  await lockAliases(sql);
  refuseNamed(id, await aliases(sql));
}

/** Lets no other transaction change aliases, or create or drop a database. Aliases are read meanwhile. */
async function lockAliases(sql: Sql): Promise<void> {
  await sql.run('LOCK TABLE cosift.aliases IN SHARE ROW EXCLUSIVE MODE');
}
