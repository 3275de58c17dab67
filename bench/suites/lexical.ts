import { openBuiltLibrary } from '../built.js';
import { inTemporaryDirectory } from '../paths.js';
import { debianSet, hasDebianPackages } from '../quality/debian-set.js';
import { openJudged } from '../quality/judged-database.js';
import type { JudgedSet } from '../quality/judged-set.js';
import { DATA, SUGGESTED_WEIGHT } from '../quality/options.js';
import { median } from '../report/statistics.js';
import { copyWithNoise } from './noisy-copies.js';
import type { Session, Suite } from './session.js';

/** Queries of each kind. */
const EACH = 30;
const ROUNDS = 3;
const LIMIT = 10;
/** Copies of the packages that make about a million records. */
const COPIES = 16;

type Searched = Awaited<ReturnType<typeof openJudged>>;

/** What a lexical weight adds to the time of a search, by kind of query. */
export const LEXICAL: Suite = {
  name: 'lexical',
  about: `searches of the Debian packages with lexical weight ${SUGGESTED_WEIGHT} compared with weight 0, one thread`,
  async run(session) {
    if (!hasDebianPackages()) {
      session.say('not measured: suite lexical, because "npm run bench:debian" has not made the packages');
      return;
    }
    const set = debianSet(EACH);
    const cosift = await openBuiltLibrary(DATA, { threads: 1 });
    try {
      const packages = await openJudged(cosift, set, 'all-MiniLM-L6-v2', session.say);
      await measure(session, set, packages);
      if (!session.full) return;
      await inTemporaryDirectory(async (directory) => {
        const large = await openBuiltLibrary(directory, { threads: 1 });
        try {
          const copies = await large.createDatabase('copies', { ...set.settings, lexical: true });
          await copyWithNoise(packages, copies, COPIES, session.say);
          await measure(session, set, copies);
        } finally {
          await large.close();
        }
      });
    } finally {
      await cosift.close();
    }
  },
};

/** Times in milliseconds, without and with the weight. */
interface Pair {
  readonly scan: readonly [number, number];
  readonly search: readonly [number, number];
}

async function measure(session: Session, set: JudgedSet, database: Searched): Promise<void> {
  const { records } = await database.describe();
  session.say(`lexical: ${records} records`);
  // The first search indexes the words.
  await database.search('index the words', { lexical: SUGGESTED_WEIGHT });
  const queries = set.queries.filter(({ kind }) => kind !== 'question');
  const pairs = new Map<string, Pair[]>();
  for (const [at, { kind, text }] of queries.entries()) {
    const all = pairs.get(kind) ?? [];
    pairs.set(kind, all);
    all.push(await timed(database, text, at % 2 === 0));
  }
  const report = (cell: string, of: readonly Pair[]) => {
    const ratio = (name: 'scan' | 'search') =>
      median(of.map(({ [name]: [alone, weighted] }) => weighted / alone));
    session.measurements.push({
      suite: 'lexical',
      system: 'cosift',
      data: 'debian',
      records,
      cell,
      values: {
        scan_p50_ms: median(of.map(({ scan }) => scan[1])),
        times_scan: ratio('scan'),
        p50_ms: median(of.map(({ search }) => search[1])),
        times_search: ratio('search'),
      },
    });
  };
  for (const [kind, of] of pairs) report(kind, of);
  report('all kinds', [...pairs.values()].flat());
}

/** The times of one query. The two searches take turns, and `first` says whether the one without the weight begins. */
async function timed(database: Searched, text: string, first: boolean): Promise<Pair> {
  const weights = [0, SUGGESTED_WEIGHT] as const;
  const order = first ? [0, 1] : [1, 0];
  const search: [number, number] = [0, 0];
  for (const at of order) {
    // A space changes neither the tokens nor the words, so that each text is embedded and none is cached.
    const start = performance.now();
    await database.search(text + ' '.repeat(at), { lexical: weights[at], limit: LIMIT });
    search[at] = performance.now() - start;
  }
  const scans: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of order) {
      const page = await database.search(text, { lexical: weights[at], limit: LIMIT, explain: true });
      if (round === 0 && at === 1) check(page.results);
      scans[at]?.push((page.explain as { times_ms: { scan: number } }).times_ms.scan);
    }
  }
  return { scan: [median(scans[0]), median(scans[1])], search };
}

/** Fails unless the scores are the weighted sums of the parts that `explain` shows, in order. */
function check(results: readonly { relevance_score: number; explain?: unknown }[]): void {
  let last = 1;
  for (const { relevance_score: score, explain } of results) {
    const { meaning, lexical } = (explain as { score: { meaning: number; lexical: number } }).score;
    const sum = (1 - SUGGESTED_WEIGHT) * meaning + SUGGESTED_WEIGHT * lexical;
    if (Math.abs(score - sum) > 1e-9 || score > last) throw new Error(`the score ${score} is wrong: ${sum}`);
    last = score;
  }
}
