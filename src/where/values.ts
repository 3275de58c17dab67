import type { Operand } from './operators.js';
import type { Tokens } from './tokens.js';

/** Numbers as JSON has them. */
const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/i;

type Value = string | number | boolean;

/** Reads the value or the list of values that an operator compares `column` with. */
export function parseOperand(
  tokens: Tokens,
  operator: string,
  operand: Operand,
  column: string,
): Value | Value[] {
  if (operand !== 'list') return parseValue(tokens, operator, operand, column);
  const start = tokens.peek();
  if (!tokens.takeSymbol('(')) {
    throw tokens.error(start, `a list such as ('red', 3) is expected after ${operator}`);
  }
  const list: Value[] = [];
  do list.push(parseValue(tokens, operator, 'any', column));
  while (tokens.takeSymbol(','));
  const end = tokens.peek();
  if (tokens.takeSymbol(')')) return list;
  throw end.kind === 'end'
    ? tokens.error(start, 'this list is not closed')
    : tokens.error(end, 'a comma or the end of the list is expected here');
}

export function parseValue(
  tokens: Tokens,
  operator: string,
  operand: Exclude<Operand, 'list'>,
  column: string,
): Value {
  const next = tokens.peek();
  if (next.kind === 'text' && operand !== 'number') {
    tokens.take();
    return next.value;
  }
  if (next.kind === 'number' && (operand === 'any' || operand === 'number')) {
    const value = numberOf(next.text);
    if (typeof value === 'string') throw tokens.error(next, value);
    tokens.take();
    return value;
  }
  if (operand === 'any' && tokens.takeWord('true')) return true;
  if (operand === 'any' && tokens.takeWord('false')) return false;
  const expected = `${EXPECTED[operand]} is expected after ${operator}`;
  if (next.kind === 'text') throw tokens.error(next, `${expected}, which compares numbers only`);
  if (next.kind === 'number') throw tokens.error(next, `${expected}: '${next.text}'`);
  if (next.kind === 'word' && next.text.toLowerCase() === 'null') {
    throw tokens.error(next, `null is not a value: write ${column} is empty, or ${column} is not empty`);
  }
  if (next.kind === 'word' && operand !== 'number') {
    throw tokens.error(next, `${expected}; a text is written in quotes: '${next.text}'`);
  }
  throw tokens.error(next, expected);
}

const EXPECTED = {
  any: "a text such as 'red', a number, true or false",
  number: 'a number such as 0.5',
  text: "a text such as 'red'",
  time: "a date or a time such as '2026-01-31'",
} as const;

/**
 * Returns the number that a text stands for, or why there is none: a filter must compare with the number that is written,
 * so an integer that a double would round is refused.
 */
export function numberOf(text: string): number | string {
  const found = NUMBER.exec(text);
  if (found === null) return `${text} is not a number; a text is written in quotes: '${text}'`;
  const value = Number(text);
  const [, fraction, exponent] = found;
  const [digits = ''] = text.split(/e/i);
  const [integer = ''] = text.split('.');
  if (!Number.isFinite(value) || (value === 0 && /[1-9]/.test(digits))) {
    return `${text} is outside the range of numbers`;
  }
  const isInteger = exponent === undefined && /^(\.0+)?$/.test(fraction ?? '');
  if (isInteger && BigInt(value) !== BigInt(integer)) {
    return `${text} has more digits than a number holds; if the column holds it as a text, write '${text}'`;
  }
  return value;
}
