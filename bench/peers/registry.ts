import { COSIFT } from './adapters/cosift.js';
import { F32_SCAN } from './adapters/f32-scan.js';
import { FAISS_FLAT } from './adapters/faiss.js';
import { HNSWLIB } from './adapters/hnswlib.js';
import { LANCEDB } from './adapters/lancedb.js';
import { ORAMA } from './adapters/orama.js';
import { PGLITE } from './adapters/pglite.js';
import { PLAIN_LOOP } from './adapters/plain-loop.js';
import { SQLITE_VEC } from './adapters/sqlite-vec.js';
import { USEARCH_EXACT, USEARCH_F32, USEARCH_I8 } from './adapters/usearch.js';
import { ZVEC } from './adapters/zvec.js';
import type { PeerCard } from './peer.js';

/** All systems that can be measured, cosift first. */
export const CARDS: readonly PeerCard[] = [
  COSIFT,
  F32_SCAN,
  USEARCH_EXACT,
  FAISS_FLAT,
  ...ZVEC,
  SQLITE_VEC,
  ...LANCEDB,
  ...PGLITE,
  ORAMA,
  PLAIN_LOOP,
  USEARCH_F32,
  USEARCH_I8,
  HNSWLIB,
];

/** The card of the system with this name. */
export function cardOf(name: string): PeerCard {
  const card = CARDS.find((one) => one.name === name);
  if (card === undefined)
    throw new Error(`no such system: ${name}; there are ${CARDS.map((one) => one.name).join(', ')}`);
  return card;
}
