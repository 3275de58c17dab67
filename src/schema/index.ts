export { epoch } from './changes.js';
export {
  checkDatabaseSettings,
  checkDeleteRequest,
  checkExportFilter,
  checkerOf,
  checkKeyRequest,
  checkMapRequest,
  checkQueryRequest,
  checkReembeddingRequest,
  checkSchema,
  checkSearchRequest,
  checkWebhookRequest,
} from './check.js';
export type {
  ColumnChanges,
  ColumnName,
  Columns,
  ColumnValue,
  Data,
  Vector,
} from './columns.js';
export type { ComponentName } from './components.js';
export { COMPONENTS } from './components.js';
export { shown } from './details.js';
export type { Operator } from './filter.js';
export {
  DATABASE_ID,
  EPOCH,
  isKeyReference,
  shortId,
  textId,
  UUID,
} from './ids.js';
export type { Action } from './keys.js';
export { ACTIONS } from './keys.js';
export type { Limits } from './limits.js';
export { DEFAULTS, defaultThreshold, jsonDepth, jsonValues, LIMITS } from './limits.js';
export { MAP_POINTS } from './map.js';
export { checkDirectory, checkStore } from './open-options.js';
export { checkOptions } from './options.js';
export { parseJson } from './parse-json.js';
export { PROBLEM_FACTS } from './problem.js';
export { didYouMean, suggest } from './suggest.js';
export { time } from './time.js';
export type * from './types/filter.js';
export type * from './types/requests.js';
export type * from './types/responses.js';
export type { LineEvent } from './upsert-stream.js';
export type { DeliveryFailure } from './webhooks.js';
