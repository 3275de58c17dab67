import type { CallTracker } from '../async/call-tracker.js';
import type { Limits } from '../schema/index.js';
import type { RecordStore } from '../store/record-store.js';
import type { CallerTurns } from './caller-turns.js';
import type { DatabaseEmbedder } from './database-embedder.js';
import type { DatabaseInfoCache } from './database-info-cache.js';
import type { Models } from './models.js';
import type { WriteBarriers } from './write-barrier.js';

/** What the parts of a service share. */
export interface Dependencies {
  store: RecordStore;
  models: Models;
  limits: Limits;
  infos: DatabaseInfoCache;
  embedder: DatabaseEmbedder;
  barriers: WriteBarriers;
  turns: CallerTurns;
  /** Counts the calls of callers: a close waits for those in progress. */
  calls: CallTracker;
}
