import type { Operator } from '../schema/index.js';
import { didYouMean } from '../schema/suggest.js';
import type { Token, Tokens } from './tokens.js';

/** What an operator compares with. */
export type Operand = 'any' | 'number' | 'text' | 'time' | 'list';

/** An operator of a filter as it is written in a text. */
export interface WrittenOperator {
  words: readonly string[];
  operator: Operator;
  /** What the operator compares with; nothing if it is undefined. */
  operand?: Operand;
}

/** All operators. None begins with all words of another one. */
const OPERATORS: readonly WrittenOperator[] = [
  { words: ['='], operator: 'equals', operand: 'any' },
  { words: ['!='], operator: 'not_equals', operand: 'any' },
  { words: ['<'], operator: 'less_than', operand: 'number' },
  { words: ['<='], operator: 'less_than_or_equals', operand: 'number' },
  { words: ['>'], operator: 'greater_than', operand: 'number' },
  { words: ['>='], operator: 'greater_than_or_equals', operand: 'number' },
  { words: ['contains'], operator: 'contains', operand: 'text' },
  { words: ['not', 'contains'], operator: 'not_contains', operand: 'text' },
  { words: ['starts', 'with'], operator: 'starts_with', operand: 'text' },
  { words: ['ends', 'with'], operator: 'ends_with', operand: 'text' },
  { words: ['is', 'empty'], operator: 'is_empty' },
  { words: ['is', 'not', 'empty'], operator: 'is_not_empty' },
  { words: ['in'], operator: 'in', operand: 'list' },
  { words: ['not', 'in'], operator: 'not_in', operand: 'list' },
  { words: ['before'], operator: 'before', operand: 'time' },
  { words: ['after'], operator: 'after', operand: 'time' },
  { words: ['on', 'or', 'before'], operator: 'on_or_before', operand: 'time' },
  { words: ['on', 'or', 'after'], operator: 'on_or_after', operand: 'time' },
];

/** What to write in place of operators of SQL. */
const INSTEAD: Readonly<Record<string, string>> = {
  between: 'write a >= 1 and a <= 2',
  like: 'write contains, starts with or ends with',
  ilike: 'write contains, starts with or ends with; case matters',
  null: 'write is empty for a missing or empty value',
};

export function parseOperator(tokens: Tokens): WrittenOperator {
  let candidates = OPERATORS;
  for (let at = 0; ; at++) {
    const next = tokens.peek();
    const written = writtenAs(next);
    const matching = candidates.filter(({ words }) => words[at] === written);
    const [first] = matching;
    if (first === undefined) throw tokens.error(next, advice(written, candidates, at));
    tokens.take();
    if (first.words.length === at + 1) return first;
    candidates = matching;
  }
}

function writtenAs(token: Token): string {
  return token.kind === 'word' || token.kind === 'symbol' ? token.text.toLowerCase() : '';
}

function advice(written: string, candidates: readonly WrittenOperator[], at: number): string {
  if (Object.hasOwn(INSTEAD, written)) return `${written} is not an operator: ${INSTEAD[written]}`;
  const spelt = candidates.map(({ words }) => words.slice(at).join(' '));
  const meant =
    written === ''
      ? ''
      : didYouMean(
          written,
          spelt.map((words) => words.replaceAll(' ', '_')),
        );
  if (meant !== '') return `an operator is expected here${meant.replaceAll('_', ' ')}`;
  const name =
    at === 0 && /^\p{L}/u.test(written) ? '; the name of a column with spaces is written in quotes' : '';
  return `an operator is expected here: ${spelt.join(', ')}${name}`;
}
