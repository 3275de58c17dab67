import { CosiftError, type ErrorFacts } from '../errors.js';

/**
 * A commit or a search was refused, and nothing was stored or searched, because its vectors do not fit the database any
 * more: another model made them, or the records need the vectors of other texts by now.
 *
 * The caller reads the model of the database again, embeds again, and repeats the call.
 */
export class StaleError extends CosiftError {
  constructor(detail: string, facts?: ErrorFacts) {
    super('internal', detail, facts);
  }
}
