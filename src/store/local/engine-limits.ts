import type { Limits } from '../../schema/index.js';
import type { EngineLimits } from './binding.js';

export function engineLimits(limits: Limits): EngineLimits {
  return {
    filterDepth: limits.filter_depth,
    filterRules: limits.filter_rules,
    filterValueBytes: limits.filter_value_bytes,
    batchRecords: limits.batch_records,
    recordBytes: limits.record_bytes,
    pageBytes: limits.page_bytes,
    databaseColumns: limits.database_columns,
    changeRetentionDays: limits.change_retention_days,
  };
}
