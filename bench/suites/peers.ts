import { type DatasetKey, nameOf, openDataset } from '../data/dataset.js';
import { FILTERS, type Filter, NONE } from '../data/filters.js';
import { addUp, type Correctness, checkDrain, checkPages } from '../oracle/check.js';
import { DEPTH, Truth } from '../oracle/truth.js';
import type { PeerCard } from '../peers/peer.js';
import type { Round } from '../peers/protocol.js';
import { CARDS } from '../peers/registry.js';
import { RemotePeer } from '../peers/remote.js';
import type { Values } from '../report/measurement.js';
import { latency, median, pairedRatio } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

/** Number of queries that are checked and timed. */
const QUERIES = 32;
/** Time limit of one system for a cell in a round. Slow systems run fewer queries. */
const ROUND_MS = 250;
const DRAINED_QUERIES = 2;
const DRAINED_PAGES = 20;
const CORE = 0;

interface Place {
  readonly filter: Filter;
  readonly page: number;
}

const FIRST_PAGES: readonly Place[] = FILTERS.map((filter) => ({ filter, page: 0 }));
const DEEP_PAGE: Place = { filter: NONE, page: DEPTH / LIMIT - 1 };

/** Compares cosift with peers. Results are checked, then systems are timed in turn with one query and one thread. */
export const PEERS: Suite = {
  name: 'peers',
  about: 'one query, one thread, compared with other systems: speed, recall, filters, 20 pages',
  peers: true,
  async run(session) {
    for (const key of session.datasets) await measure(session, key);
  },
};

/** A system that is being measured. */
interface Contender {
  readonly peer: RemotePeer;
  readonly card: PeerCard;
  readonly correct: Map<Place, Correctness>;
  readonly rounds: Map<Place, Round[]>;
  readonly base: Values;
}

async function measure(session: Session, key: DatasetKey): Promise<void> {
  session.say(`${nameOf(key)}: right answers by brute force`);
  const truth = new Truth(openDataset(key), QUERIES, FILTERS);
  const queries = Array.from({ length: QUERIES }, (_, q) => q);
  // Skipped if some query does not reach the page, because an empty page would be timed.
  const deep = queries.every((q) => truth.answer(NONE, q).ids.length === DEPTH);
  const places = deep ? [...FIRST_PAGES, DEEP_PAGE] : FIRST_PAGES;
  const contenders: Contender[] = [];
  for (const card of CARDS) {
    if (card.maxRecords < key.records || !(card.ours || session.systems.has(card.name))) continue;
    session.say(`${nameOf(key)}: ${card.name}: load and check`);
    const peer = new RemotePeer(card, 1);
    try {
      contenders.push(await prepare(peer, key, truth, places));
    } catch (error) {
      session.failures.push(`${card.name} at ${key.records}: ${String(error).split('\n')[0]}`);
      await peer.end();
    }
  }
  const rounds = session.full ? 9 : 5;
  for (let round = 0; round < rounds; round++) {
    session.say(`${nameOf(key)}: round ${round + 1} of ${rounds}`);
    for (const place of places) {
      for (const contender of contenders) await time(contender, place);
    }
  }
  for (const contender of contenders) {
    await contender.peer.end();
    report(
      session,
      key,
      contender,
      contenders.find(({ card }) => card.ours),
    );
  }
}

async function prepare(
  peer: RemotePeer,
  key: DatasetKey,
  truth: Truth,
  places: readonly Place[],
): Promise<Contender> {
  const { card } = peer;
  const { ms } = await peer.load(key);
  peer.pin(CORE);
  const correct = new Map<Place, Correctness>();
  for (const place of places) {
    const answers = await peer.call({ op: 'answers', cell: { ...place, limit: LIMIT, queries: QUERIES } });
    const found = checkPages(truth, place.filter, place.page, LIMIT, answers);
    // A wrong page of cosift ends the run, because its time would mean nothing.
    if (card.ours && !found.exact)
      throw new Error(`not exact under ${place.filter.name}: ${JSON.stringify(found)}`);
    correct.set(place, found);
  }
  const drains = [];
  for (let query = 0; query < DRAINED_QUERIES; query++) {
    const pages = await peer.call({ op: 'drain', filter: NONE, limit: LIMIT, pages: DRAINED_PAGES, query });
    drains.push(checkDrain(truth, NONE, query, pages));
  }
  const { lost, repeated, expected } = addUp(drains);
  return {
    peer,
    card,
    correct,
    rounds: new Map(),
    base: { load_s: ms / 1_000, lost: lost / Math.max(1, expected), repeated },
  };
}

async function time({ peer, rounds }: Contender, place: Place): Promise<void> {
  const before = rounds.get(place) ?? [];
  const p50 = before.length === 0 ? 100 : median(before.flatMap(({ wall }) => wall)) / 1_000;
  const queries = Math.min(QUERIES, Math.max(4, Math.floor(ROUND_MS / p50)));
  const round = await peer.call({ op: 'round', cell: { ...place, limit: LIMIT, queries } });
  rounds.set(place, [...before, round]);
}

function report(session: Session, key: DatasetKey, contender: Contender, ours: Contender | undefined): void {
  for (const place of contender.correct.keys()) {
    // The first round is a warm-up.
    const rounds = contender.rounds.get(place)?.slice(1) ?? [];
    const wall = rounds.map((round) => round.wall);
    const { recall, wrong, missing, scoreError } = contender.correct.get(place) as Correctness;
    const ourWall = ours?.rounds
      .get(place)
      ?.slice(1)
      .map((round) => round.wall);
    session.measurements.push({
      suite: 'peers',
      cell: place.page === 0 ? place.filter.name : `none, page ${place.page + 1}`,
      system: contender.card.name,
      ...factsOf(key),
      values: {
        ...latency(wall.flat()),
        cpu_p50_ms: median(rounds.flatMap((round) => round.cpu)) / 1_000,
        ...(ourWall === undefined ? {} : { times_ours: pairedRatio(wall, ourWall) }),
        recall,
        wrong,
        missing,
        score_error: scoreError,
        ...(place.filter === NONE && place.page === 0 ? contender.base : {}),
      },
    });
  }
}
