import * as aliases from './aliases.js';
import * as changes from './changes.js';
import * as databases from './databases.js';
import { doctorCheck } from './doctor.js';
import { embeddings, embeddingsRequest } from './embeddings.js';
import * as facets from './facets.js';
import * as filter from './filter.js';
import { health } from './health.js';
import * as keys from './keys.js';
import * as map from './map.js';
import { mcpMessage } from './mcp.js';
import * as pages from './pages.js';
import { problem } from './problem.js';
import * as records from './records.js';
import * as reembedding from './reembedding.js';
import * as search from './search.js';
import * as searches from './searches.js';
import * as syncs from './syncs.js';
import * as time from './time.js';
import * as upsertStream from './upsert-stream.js';
import { valueFormats } from './value-formats.js';
import * as webhooks from './webhooks.js';

/** The schemas of requests and responses, under the names by which others refer to them. */
export const COMPONENTS = {
  FilterRule: filter.filterRule,
  FilterNode: filter.filterNode,
  FilterGroup: filter.filterGroup,
  FilterBoost: search.filterBoost,
  NearnessBoost: search.nearnessBoost,
  Boost: search.boost,
  Search: search.search,
  TimeRange: time.timeRange,
  Pagination: search.pagination,
  Sort: search.sort,
  Facet: facets.facet,
  ValuesFacet: facets.valuesFacet,
  HistogramFacet: facets.histogramFacet,
  TimeFacet: facets.timeFacet,
  SearchRequest: search.searchRequest,
  QueryRequest: search.queryRequest,
  SearchesRequest: searches.searchesRequest,
  MapRequest: map.mapRequest,
  Data: pages.data,
  NewData: pages.newData,
  Timestamps: pages.timestamps,
  Passage: pages.passage,
  BestPassage: pages.bestPassage,
  Record: pages.record,
  Total: pages.total,
  ValuesCounts: facets.valuesCounts,
  HistogramCounts: facets.histogramCounts,
  TimeCounts: facets.timeCounts,
  FacetCounts: facets.facetCounts,
  PagePosition: pages.pagePosition,
  Page: pages.page,
  SearchOutcome: searches.searchOutcome,
  SearchOutcomes: searches.searchOutcomes,
  Point: map.point,
  Points: map.points,
  NewTimestamps: records.newTimestamps,
  EmbeddedPassage: records.embeddedPassage,
  NewRecord: records.newRecord,
  Batch: records.batch,
  BatchResult: records.batchResult,
  LineProblem: upsertStream.lineProblem,
  LineProgress: upsertStream.lineProgress,
  LineSummary: upsertStream.lineSummary,
  LineFailure: upsertStream.lineFailure,
  LineEvent: upsertStream.lineEvent,
  RecordPatch: records.recordPatch,
  DeleteRequest: records.deleteRequest,
  DeleteResult: records.deleteResult,
  Change: changes.change,
  Changes: changes.changes,
  ValueFormats: valueFormats,
  DatabaseSettings: databases.databaseSettings,
  DatabaseChanges: databases.databaseChanges,
  DatabaseDescription: databases.databaseDescription,
  DatabaseList: databases.databaseList,
  AliasRequest: aliases.aliasRequest,
  Alias: aliases.alias,
  AliasList: aliases.aliasList,
  EmbeddingsRequest: embeddingsRequest,
  Embeddings: embeddings,
  DoctorCheck: doctorCheck,
  ReembeddingRequest: reembedding.reembeddingRequest,
  Reembedding: reembedding.reembedding,
  SyncDescription: syncs.syncDescription,
  SyncList: syncs.syncList,
  SyncConfirmation: syncs.syncConfirmation,
  SyncPosition: syncs.syncPosition,
  SyncHold: syncs.syncHold,
  SyncCommit: syncs.syncCommit,
  KeyRequest: keys.keyRequest,
  KeyDescription: keys.keyDescription,
  IssuedKey: keys.issuedKey,
  KeyList: keys.keyList,
  OwnKey: keys.ownKey,
  WebhookRequest: webhooks.webhookRequest,
  WebhookDescription: webhooks.webhookDescription,
  CreatedWebhook: webhooks.createdWebhook,
  WebhookList: webhooks.webhookList,
  WebhookDelivery: webhooks.webhookDelivery,
  McpMessage: mcpMessage,
  Health: health,
  Problem: problem,
} as const;

export type ComponentName = keyof typeof COMPONENTS;
