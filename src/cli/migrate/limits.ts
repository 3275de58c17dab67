import { LIMITS, type Limits } from '../../schema/limits.js';

const NONE = 1_073_741_824;

/** Limits under which a migration takes all that a service with other limits stored, and removes no change. */
export const LIMITS_OF_MIGRATION: Limits = {
  ...LIMITS,
  batch_records: NONE,
  batch_bytes: NONE,
  record_bytes: NONE,
  database_columns: NONE,
  passages_per_record: NONE,
  change_retention_days: 36_500,
};
