import { asGroup } from '../api/requests.js';
import type { Search } from '../schema/index.js';
import { parseColumn, parseWhere } from './parse-where.js';
import { Tokens } from './tokens.js';
import { numberOf, parseValue } from './values.js';
import { WhereError } from './where-error.js';

export type Boost = NonNullable<Search['boosts']>[number];

const TIMES = ['created_at', 'changed_at', 'synced_at'] as const;

/**
 * Parses a boost: a weight with a filter, `0.2 where country = 'France'`, or with a column or a time of the
 * records, a target and a scale, `0.3 by year near 1900 within 50` or `0.3 by time synced_at near '2026-01-31' within 'P30D'`.
 *
 * @throws {WhereError} with the place, and with what is expected there.
 */
export function parseBoost(text: string): Boost {
  const [, weight, filter] = /^\s*(\S+)\s+where\b(.*)$/isu.exec(text) ?? [];
  if (weight !== undefined && filter !== undefined) {
    const number = numberOf(weight);
    if (typeof number === 'string') throw new WhereError(number);
    return { weight: number, filter: asGroup(parseWhere(filter)) };
  }
  const tokens = new Tokens(text);
  const number = takeNumber(tokens);
  if (number === undefined) throw tokens.error(tokens.peek(), 'a weight such as 0.2 is expected first');
  const after = tokens.peek();
  if (!tokens.takeWord('by')) throw tokens.error(after, 'where or by is expected after the weight');
  const value = parseMeasured(tokens);
  expectWord(tokens, 'near');
  const target = takeNumberOrText(
    tokens,
    "a number such as 1900, or a time such as '2026-01-31', is expected after near",
  );
  expectWord(tokens, 'within');
  const scale = takeNumberOrText(
    tokens,
    "a number such as 50, or a duration such as 'P30D', is expected after within",
  );
  const end = tokens.peek();
  if (end.kind !== 'end') throw tokens.error(end, 'the end of the boost is expected here');
  return { weight: number, ...value, target, scale };
}

/** A column, or `time` and the name of a time. */
function parseMeasured(tokens: Tokens): { column: string } | { time: (typeof TIMES)[number] } {
  const first = tokens.peek();
  const column = parseColumn(tokens);
  const next = tokens.peek();
  if (first.kind !== 'word' || column !== 'time' || next.kind !== 'word' || next.text === 'near') {
    return { column };
  }
  const time = TIMES.find((name) => name === next.text);
  if (time === undefined) throw tokens.error(next, `one of ${TIMES.join(', ')} is expected after time`);
  tokens.take();
  return { time };
}

function expectWord(tokens: Tokens, word: string): void {
  const next = tokens.peek();
  if (!tokens.takeWord(word)) throw tokens.error(next, `${word} is expected here`);
}

function takeNumberOrText(tokens: Tokens, expected: string): number | string {
  const next = tokens.peek();
  if (next.kind === 'text') {
    tokens.take();
    return next.value;
  }
  const number = takeNumber(tokens);
  if (number === undefined) throw tokens.error(next, expected);
  return number;
}

/** The next token, if it is a number. */
function takeNumber(tokens: Tokens): number | undefined {
  const next = tokens.peek();
  return next.kind === 'number' ? (parseValue(tokens, '', 'number', '') as number) : undefined;
}
