/**
 * How records are identified, and how their times are named: `uuid` is variant A of the HTTP interface, `integer` is
 * variant B.
 */
export type Variant = 'uuid' | 'integer';
