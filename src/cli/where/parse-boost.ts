import { InvalidArgumentError, Option } from 'commander';
import { asGroup } from '../../api/requests.js';
import type { Search } from '../../schema/index.js';
import { parseColumn, parseWhere } from './parse-where.js';
import { Tokens } from './tokens.js';
import { numberOf, parseValue } from './values.js';

export type Boost = NonNullable<Search['boosts']>[number];

const TIMES = ['created_at', 'changed_at', 'synced_at'] as const;

/**
 * Parses the value of `--boost`: a weight with a filter, `0.2 where country = 'France'`, or with a column or a time of the
 * records, a target and a scale, `0.3 by year near 1900 within 50` or `0.3 by time synced_at near '2026-01-31' within 'P30D'`.
 *
 * @throws {WhereError} with the place, and with what is expected there.
 */
export function parseBoost(text: string): Boost {
  const [, weight, filter] = /^\s*(\S+)\s+where\s(.*)$/isu.exec(text) ?? [];
  if (weight !== undefined && filter !== undefined) {
    const number = numberOf(weight);
    if (typeof number === 'string') throw new InvalidArgumentError(number);
    return { weight: number, filter: asGroup(parseWhere(filter)) };
  }
  const tokens = new Tokens(text);
  const number = parseValue(tokens, 'the boost', 'number', '') as number;
  const after = tokens.peek();
  if (!tokens.takeWord('by')) throw tokens.error(after, 'where or by is expected after the weight');
  const value = parseMeasured(tokens);
  expectWord(tokens, 'near');
  const target = parseTarget(tokens, 'near');
  expectWord(tokens, 'within');
  const scale = parseTarget(tokens, 'within');
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

function parseTarget(tokens: Tokens, after: string): number | string {
  const next = tokens.peek();
  return parseValue(tokens, after, next.kind === 'number' ? 'number' : 'text', '') as number | string;
}

/** The option `--boost`, which may be repeated. */
export function boostOption(): Option {
  return new Option(
    '--boost <boost>',
    `part of the score that depends on data or times, such as "0.2 where country = 'France'", or ` +
      '"0.3 by year near 1900 within 50"; may be repeated',
  ).argParser((text: string, before: Boost[] = []) => [...before, parseBoost(text)]);
}
