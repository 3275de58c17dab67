import { CosiftError, type ErrorFacts } from '../errors.js';
import type { Alias } from '../schema/index.js';

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

/** Aliases that an error names. */
const ALIASES_SHOWN = 3;

/** Refuses to drop database `id` while one of these aliases names it. */
export function refuseNamed(id: string, aliases: readonly Alias[]): void {
  const names = aliases.filter(({ database }) => database === id).map(({ name }) => `"${name}"`);
  if (names.length === 0) return;
  const more = names.length - ALIASES_SHOWN;
  const shown = names.slice(0, ALIASES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const detail =
    names.length === 1
      ? `the alias ${shown} names database "${id}": delete the alias, or let it name another database`
      : `the aliases ${shown} name database "${id}": delete the aliases, or let them name another database`;
  throw new CosiftError('alias_conflict', detail);
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
