import { ALIASES } from './aliases.js';
import { BACKUP } from './backup.js';
import { CHANGES } from './changes.js';
import { DATABASES } from './databases.js';
import { DOCTOR } from './doctor.js';
import { DOCUMENTS } from './documents.js';
import { EMBEDDINGS } from './embeddings.js';
import { EXPORT } from './export.js';
import { HEALTH } from './health.js';
import { HELD_SYNC } from './held-sync.js';
import { KEYS } from './keys.js';
import { MCP } from './mcp.js';
import { METRICS } from './metrics.js';
import { PAGE } from './page.js';
import { RECORDS } from './records.js';
import { REEMBEDDING } from './reembedding.js';
import type { Resource } from './resource.js';
import { SEARCH } from './search.js';
import { SYNC } from './sync.js';
import { WEBHOOKS } from './webhooks.js';

/** Every operation, in the order of the OpenAPI document. */
export const RESOURCES: Resource = {
  ...SEARCH,
  ...EMBEDDINGS,
  ...RECORDS,
  ...CHANGES,
  ...EXPORT,
  ...WEBHOOKS,
  ...DATABASES,
  ...ALIASES,
  ...REEMBEDDING,
  ...SYNC,
  ...HELD_SYNC,
  ...KEYS,
  ...MCP,
  ...BACKUP,
  ...DOCTOR,
  ...HEALTH,
  ...METRICS,
  ...DOCUMENTS,
  ...PAGE,
};
