import { CosiftError, type ErrorFacts } from '../errors.js';

/** Milliseconds that a write waits while a re-embedding holds the writers of its database. */
export const MAX_HELD_MS = 10_000;

export function heldTooLong(): CosiftError {
  return new CosiftError('busy', 'the database is being embedded with another model: writes wait for it');
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
