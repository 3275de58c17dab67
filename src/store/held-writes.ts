import { CosiftError } from '../errors.js';

/** Milliseconds that a write waits while a re-embedding holds the writers of its database. */
export const MAX_HELD_MS = 10_000;

/** The error of a write that waited so long. */
export function heldTooLong(): CosiftError {
  return new CosiftError('busy', 'the database is being embedded with another model: writes wait for it');
}
