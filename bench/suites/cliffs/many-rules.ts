import { type Dataset, openDataset, queryOf, SEED } from '../../data/dataset.js';
import { type Filter, NONE, type Operator } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import type { Cosift } from '../../peers/adapters/cosift.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Goal, type Ground } from './cliff.js';

const ROUNDS = 5;
const TEXTS = { records: 10_000, dimensions: 8, seed: SEED };
const TEXT_BYTES = 10_000;
const WORDS = 4_000;

/** Searches with filters of many rules. Each search has rules of its own, because selections are cached. */
export const MANY_RULES: Cliff = {
  name: 'filters with many rules',
  async run({ large, largeData }: Ground) {
    const { title } = largeData.columns;
    const any = (random: Random) => title[random.below(title.length)] as string;
    const cells = [
      await measured(large, largeData, rulesOf(1_000, 'OR', 'equals', any), { goal_p50_ms: 5 }),
      await measured(large, largeData, rulesOf(1_000, 'AND', 'not_equals', any), { goal_p50_ms: 5 }),
    ];
    const words = wordsOf(new Random(SEED));
    const pick = (random: Random) => words[random.below(WORDS)] as string;
    // A word after another one with an end that no text has.
    const absent = (random: Random) => `${pick(random)} ${pick(random)}0`;
    const textsData = withTexts(openDataset(TEXTS), pick);
    const texts = await large.beside('texts', textsData);
    await large.settle();
    for (const count of [50, 1_000])
      cells.push(
        await measured(texts, textsData, rulesOf(count, 'OR', 'contains', absent), { goal_p50_ms: 100 }),
      );
    return cells;
  },
};

async function measured(
  database: Cosift,
  data: Dataset,
  rules: (round: number) => Filter,
  goal: Goal,
): Promise<CliffCell> {
  const request = { filter: NONE, threshold: 0, limit: LIMIT, page: 0 };
  const query = (round: number) => queryOf(data, (round + 64) % 64);
  for (const round of [0, 1]) {
    const found = await database.search(query(round), { ...request, filter: rules(round) }, { total: true });
    const expected = countOf(data, rules(round));
    if (found.total !== expected) throw new Error(`${rules(round).name}: ${found.total}, not ${expected}`);
  }
  // To make up the rules is no part of the search.
  const filters = Array.from({ length: ROUNDS + 1 }, (_, i) => rules(i + 2));
  const values = await compared(
    (round) => database.search(query(round), request),
    (round) => database.search(query(round), { ...request, filter: filters[round + 1] as Filter }),
    ROUNDS,
    goal,
  );
  const { records, dimensions } = data;
  return { cell: `search with ${rules(0).name}`, records, dimensions, values };
}

/** Filters of one group on the title, with other values in each round. */
function rulesOf(
  count: number,
  condition: 'AND' | 'OR',
  operator: Operator,
  value: (random: Random) => string,
): (round: number) => Filter {
  return (round) => {
    const random = new Random(SEED + round);
    const rules = Array.from({ length: count }, () => ({
      column: 'title' as const,
      operator,
      value: value(random),
    }));
    const name = `${count.toLocaleString('en')} ${operator}, ${condition}`;
    return { name, keeps: 'few or nearly all', group: { condition, rules } };
  };
}

/** The number of records that pass a filter of {@link rulesOf}. */
function countOf({ columns: { title } }: Dataset, { group }: Filter): number {
  const rules = (group?.rules ?? []) as readonly { operator: Operator; value: string }[];
  const values = rules.map(({ value }) => value);
  if (rules[0]?.operator === 'contains')
    return title.filter((text) => values.some((value) => text.includes(value))).length;
  const known = new Set(values);
  const equal = title.filter((text) => known.has(text)).length;
  return rules[0]?.operator === 'equals' ? equal : title.length - equal;
}

function wordsOf(random: Random): string[] {
  const letter = () => String.fromCharCode(97 + random.below(26));
  return Array.from({ length: WORDS }, () => Array.from({ length: 3 + random.below(7) }, letter).join(''));
}

function withTexts(data: Dataset, pick: (random: Random) => string): Dataset {
  const random = new Random(SEED + 1);
  const text = () => {
    const words: string[] = [];
    for (let bytes = 0; bytes < TEXT_BYTES; ) bytes += words[words.push(pick(random)) - 1]?.length ?? 0;
    return words.join(' ');
  };
  const title = Array.from({ length: data.records }, text);
  return { ...data, name: `${data.name}-texts`, columns: { ...data.columns, title } };
}
