import { CosiftError, type ErrorFacts } from '../errors.js';

/** Milliseconds that a write waits while a re-embedding holds the writers of its database. */
export const MAX_HELD_MS = 10_000;

export function heldTooLong(): CosiftError {
  return new CosiftError('busy', 'the database is being embedded with another model: writes wait for it');
}

/** A database cannot be created with the name of an alias. */
export function aliasOfOther(name: string): CosiftError {
  return new CosiftError('alias_conflict', `"${name}" is the name of an alias`);
}

/** An alias cannot have the id of a database. */
export function databaseOfAlias(name: string): CosiftError {
  return new CosiftError('alias_conflict', `"${name}" is the id of a database, which no alias can have`);
}

/** A database cannot be dropped while an alias names it. */
export function hasAlias(id: string, alias: string): CosiftError {
  const detail = `the alias "${alias}" names database "${id}": delete the alias, or let it name another database`;
  return new CosiftError('alias_conflict', detail);
}

/**
 * A commit or a search was refused because its vectors no longer fit the database: the database has another model now,
 * or other calls changed the records, so that other texts need vectors. Nothing was stored or searched.
 *
 * The caller reads the model of the database again, embeds the texts again, and repeats the call.
 */
export class StaleError extends CosiftError {
  constructor(detail: string, facts?: ErrorFacts) {
    super('internal', detail, facts);
  }
}
