import { BATCHES } from './batches.js';
import { CLIENTS } from './clients.js';
import { CLIFFS } from './cliffs/cliffs.js';
import { COUNTS } from './counts.js';
import { EMBEDDER } from './embedder.js';
import { FILTER_SWEEP } from './filters.js';
import { KERNELS } from './kernels.js';
import { LAYERS } from './layers.js';
import { LEXICAL } from './lexical.js';
import { OPENING } from './opening.js';
import { PAGES_BY_DEPTH } from './pages.js';
import { PEERS } from './peers.js';
import { POSTGRES } from './postgres/postgres.js';
import { PROCESSOR } from './processor.js';
import type { Suite } from './session.js';
import { WRITES } from './writes.js';

/** All suites in the order in which they run. */
export const SUITES: readonly Suite[] = [
  KERNELS,
  PEERS,
  FILTER_SWEEP,
  PAGES_BY_DEPTH,
  COUNTS,
  LEXICAL,
  CLIENTS,
  BATCHES,
  CLIFFS,
  OPENING,
  WRITES,
  EMBEDDER,
  LAYERS,
  PROCESSOR,
  POSTGRES,
];
