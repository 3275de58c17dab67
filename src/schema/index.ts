export type { Change, Changes } from './changes.js';
export { epoch } from './changes.js';
export {
  checkDatabaseSettings,
  checkDeleteRequest,
  checkKeyRequest,
  checkQueryRequest,
  checkReembeddingRequest,
  checkSchema,
  checkSearchRequest,
  checkWebhookRequest,
} from './check.js';
export type { ComponentName } from './components.js';
export { COMPONENTS } from './components.js';
export type { DatabaseDescription, DatabaseSettings } from './databases.js';
export type { Facet, FacetCounts } from './facets.js';
export type { Condition, FilterGroup, FilterRule, Operator } from './filter.js';
export { DATABASE_ID, EPOCH, shortId, UUID } from './ids.js';
export type { Action, IssuedKey, KeyDescription, KeyRequest } from './keys.js';
export { ACTIONS } from './keys.js';
export type { Limits } from './limits.js';
export { DEFAULTS, jsonDepth, LIMITS } from './limits.js';
export { checkOptions } from './options.js';
export type { Data, PageA, PageB, RecordA, RecordB } from './pages.js';
export { parseJson } from './parse-json.js';
export type { ProblemBody } from './problem.js';
export { PROBLEM_FACTS } from './problem.js';
export type { BatchResult, DeleteRequest, NewRecord, RecordPatch } from './records.js';
export type { Reembedding } from './reembedding.js';
export type { Pagination, QueryRequest, SearchRequest, Variant } from './search.js';
export { didYouMean } from './suggest.js';
export { time } from './time.js';
export type { LineEvent, LineFailure, LineProblem, LineSummary } from './upsert-stream.js';
export type { CreatedWebhook, DeliveryFailure, WebhookDescription, WebhookRequest } from './webhooks.js';
