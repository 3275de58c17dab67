import { type Dataset, openDataset, queryOf, SEED } from '../../data/dataset.js';
import { type Filter, NONE, type Operator } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import type { Cosift } from '../../peers/adapters/cosift.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture, type Goal } from './cliff.js';

const ROUNDS = 20;
const TEXTS = { records: 10_000, dimensions: 8, seed: SEED };
const TEXT_BYTES = 10_000;
const WORDS = 4_000;

/** Filters of one group of rules on the title. */
interface Rules {
  readonly count: number;
  readonly condition: 'AND' | 'OR';
  readonly operator: Operator;
  readonly value: (random: Random) => string;
  /** Makes a value that records have, if others have none. Filters have it only while they are checked. */
  readonly found?: (random: Random) => string;
  readonly goal: Goal;
}

/** Searches with filters of many rules. Each search has rules of its own, because selections are cached. */
export const MANY_RULES: Cliff = {
  name: 'filters with many rules',
  async run({ large, largeData }: Fixture) {
    const { title } = largeData.columns;
    const value = (random: Random) => title[random.below(title.length)] as string;
    const goal = { goal_p50_ms: 5 };
    const cells = [
      await measured(large, largeData, { count: 1_000, condition: 'OR', operator: 'equals', value, goal }),
      await measured(large, largeData, {
        count: 1_000,
        condition: 'AND',
        operator: 'not_equals',
        value,
        goal,
      }),
    ];
    const words = wordsOf(new Random(SEED));
    const pick = (random: Random) => words[random.below(WORDS)] as string;
    const textsData = withTexts(openDataset(TEXTS), pick);
    const texts = await large.beside('texts', textsData);
    await large.settle();
    const substrings = {
      condition: 'OR',
      operator: 'contains',
      // A word after another one with an end that no text has.
      value: (random: Random) => `${pick(random)} ${pick(random)}0`,
      found: (random: Random) => firstWords(textsData.columns.title[random.below(TEXTS.records)] as string),
      goal: { goal_p50_ms: 100 },
    } as const;
    for (const count of [50, 1_000]) cells.push(await measured(texts, textsData, { count, ...substrings }));
    return cells;
  },
};

async function measured(database: Cosift, data: Dataset, rules: Rules): Promise<CliffCell> {
  const request = { filter: NONE, threshold: 0, limit: LIMIT, page: 0 };
  const query = (round: number) => queryOf(data, (round + 64) % 64);
  for (const round of [0, 1]) {
    const filter = filterOf(rules, round, true);
    const { total } = await database.search(query(round), { ...request, filter }, { total: true });
    const expected = countOf(data, filter);
    if (total !== expected) throw new Error(`${filter.name}: ${total}, not ${expected}`);
  }
  // To make up the rules is no part of the search.
  const filters = Array.from({ length: ROUNDS + 1 }, (_, i) => filterOf(rules, i + 2, false));
  const values = await compared(
    (round) => database.search(query(round), request),
    (round) => database.search(query(round), { ...request, filter: filters[round + 1] as Filter }),
    ROUNDS,
    rules.goal,
  );
  const { records, dimensions } = data;
  return { cell: `search with ${nameOf(rules)}`, records, dimensions, values };
}

/** A filter of the rules, with other values in each round. */
function filterOf(rules: Rules, round: number, checked: boolean): Filter {
  const random = new Random(SEED + round);
  const { count, condition, operator, value, found = value } = rules;
  const values = Array.from({ length: count }, (_, i) => (checked && i === 0 ? found : value)(random));
  // V8 joins the parts of a title when its text is first read. That is no part of the search either.
  const joined = JSON.parse(JSON.stringify(values)) as string[];
  const group = { condition, rules: joined.map((value) => ({ column: 'title' as const, operator, value })) };
  return { name: nameOf(rules), keeps: 'few or nearly all', group };
}

function nameOf({ count, condition, operator }: Rules): string {
  return `${count.toLocaleString('en')} ${operator}, ${condition}`;
}

/** The number of records that pass a filter of {@link filterOf}. */
function countOf({ columns: { title } }: Dataset, { group }: Filter): number {
  const rules = (group?.rules ?? []) as readonly { operator: Operator; value: string }[];
  const values = rules.map(({ value }) => value);
  if (rules[0]?.operator === 'contains') {
    // Texts consist of letters, so none has a value with a digit. To search for each of these would take a minute.
    const possible = values.filter((value) => !/\d/.test(value));
    return title.filter((text) => possible.some((value) => text.includes(value))).length;
  }
  const known = new Set(values);
  const equal = title.filter((text) => known.has(text)).length;
  return rules[0]?.operator === 'equals' ? equal : title.length - equal;
}

/** The beginning of a text, long enough for few other texts to have it. */
function firstWords(text: string): string {
  return text.slice(0, text.indexOf(' ', 16));
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
