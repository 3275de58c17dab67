import * as databases from './databases.js';
import * as filter from './filter.js';
import * as keys from './keys.js';
import * as pages from './pages.js';
import { health, problem } from './problem.js';
import * as records from './records.js';
import * as reembedding from './reembedding.js';
import * as search from './search.js';
import * as webhooks from './webhooks.js';

/** Every schema of a request or response under the name by which others and OpenAPI refer to it. */
export const COMPONENTS = {
  FilterRule: filter.filterRule,
  FilterNodeA: filter.filterNodeA,
  FilterGroupA: filter.filterGroupA,
  FilterNodeB: filter.filterNodeB,
  FilterGroupB: filter.filterGroupB,
  Search: search.search,
  TimeRange: search.timeRange,
  Pagination: search.pagination,
  SortA: search.sortA,
  SortB: search.sortB,
  Facet: search.facet,
  ValuesFacet: search.valuesFacet,
  HistogramFacet: search.histogramFacet,
  TimeFacet: search.timeFacet,
  SearchRequestA: search.searchRequestA,
  SearchRequestB: search.searchRequestB,
  QueryRequestA: search.queryRequestA,
  QueryRequestB: search.queryRequestB,
  Data: pages.data,
  TimestampsA: pages.timestampsA,
  TimestampsB: pages.timestampsB,
  RecordA: pages.recordA,
  RecordB: pages.recordB,
  Record: pages.record,
  Total: pages.total,
  ValuesCounts: pages.valuesCounts,
  HistogramCounts: pages.histogramCounts,
  TimeCounts: pages.timeCounts,
  PagePosition: pages.pagePosition,
  PageA: pages.pageA,
  PageB: pages.pageB,
  NewRecord: records.newRecord,
  Batch: records.batch,
  BatchResult: records.batchResult,
  LineProblem: records.lineProblem,
  LineProgress: records.lineProgress,
  LineSummary: records.lineSummary,
  LineFailure: records.lineFailure,
  LineEvent: records.lineEvent,
  DeleteRequest: records.deleteRequest,
  DeleteResult: records.deleteResult,
  Change: records.change,
  Changes: records.changes,
  Embed: databases.embed,
  DatabaseSettings: databases.databaseSettings,
  DatabaseDescription: databases.databaseDescription,
  DatabaseList: databases.databaseList,
  ReembeddingRequest: reembedding.reembeddingRequest,
  Reembedding: reembedding.reembedding,
  KeyRequest: keys.keyRequest,
  KeyDescription: keys.keyDescription,
  IssuedKey: keys.issuedKey,
  KeyList: keys.keyList,
  WebhookRequest: webhooks.webhookRequest,
  WebhookDescription: webhooks.webhookDescription,
  CreatedWebhook: webhooks.createdWebhook,
  WebhookList: webhooks.webhookList,
  WebhookDelivery: webhooks.webhookDelivery,
  Health: health,
  Problem: problem,
} as const;

export type ComponentName = keyof typeof COMPONENTS;
