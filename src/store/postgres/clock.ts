/**
 * Milliseconds since 1970 by the clock of PostgreSQL. Several services share a store, and their clocks differ.
 *
 * The time of the transaction is stable within a statement, so that workers of Citus may compare with it.
 */
export const CLOCK = 'floor(extract(epoch FROM now()) * 1000)::bigint';

/** As {@link CLOCK}, at the start of the statement. */
export const STATEMENT_CLOCK = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';
