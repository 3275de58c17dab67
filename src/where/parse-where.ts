import type { Filter, FilterRule } from '../schema/index.js';
import { LIMITS } from '../schema/limits.js';
import { parseJsonFilter } from './json-filter.js';
import { parseOperator } from './operators.js';
import { type Token, Tokens } from './tokens.js';
import { numberOf, parseOperand } from './values.js';
import { WhereError } from './where-error.js';

/** More than the command line of any system takes. */
const MAX_LENGTH = 1_000_000;

/**
 * Parses a filter as text, such as `price < 3 and section = 'graphics'`, or as JSON. The service
 * checks the members of JSON, and the lengths of names and values. docs/how-to/filter.md has the grammar.
 *
 * @throws {WhereError} with the place, and with what is expected there.
 */
export function parseWhere(text: string): Filter {
  if (text.length > MAX_LENGTH) throw new WhereError(`longer than ${MAX_LENGTH} characters`);
  if (/^\s*\{/.test(text)) return parseJsonFilter(text);
  const tokens = new Tokens(text);
  if (tokens.peek().kind === 'end')
    throw tokens.error(0, 'the filter is empty; without --where, all records pass');
  const filter = parseOr(tokens, 0);
  const next = tokens.peek();
  if (next.kind !== 'end') throw tokens.error(next, afterRule(next));
  return filter;
}

function parseOr(tokens: Tokens, depth: number): Filter {
  const parts = [parseAnd(tokens, depth)];
  while (tokens.takeWord('or')) parts.push(parseAnd(tokens, depth));
  return joined('OR', parts);
}

function parseAnd(tokens: Tokens, depth: number): Filter {
  const parts = [parsePart(tokens, depth)];
  while (tokens.takeWord('and')) parts.push(parsePart(tokens, depth));
  return joined('AND', parts);
}

function joined(condition: 'AND' | 'OR', rules: readonly Filter[]): Filter {
  const [only] = rules;
  return rules.length === 1 && only !== undefined ? only : { condition, rules };
}

function parsePart(tokens: Tokens, depth: number): Filter {
  const next = tokens.peek();
  if (!tokens.takeSymbol('(')) return parseRule(tokens);
  // Each parenthesis takes room on the stack.
  if (depth === LIMITS.filter_depth) throw tokens.error(next, `more than ${depth} parentheses are open here`);
  const filter = parseOr(tokens, depth + 1);
  const end = tokens.peek();
  if (tokens.takeSymbol(')')) return filter;
  throw end.kind === 'end'
    ? tokens.error(next, 'this parenthesis is not closed')
    : tokens.error(end, afterRule(end));
}

function parseRule(tokens: Tokens): Filter {
  const column = parseColumn(tokens);
  const { operator, words, operand } = parseOperator(tokens);
  const value = operand === undefined ? undefined : parseOperand(tokens, words.join(' '), operand, column);
  return { column, operator, ...(value !== undefined && { value }) } as FilterRule;
}

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not']);

export function parseColumn(tokens: Tokens): string {
  const next = tokens.peek();
  if (next.kind === 'word' && !RESERVED.has(next.text.toLowerCase())) {
    tokens.take();
    return next.text;
  }
  if (next.kind === 'text' && next.value !== '') {
    tokens.take();
    return next.value;
  }
  throw tokens.error(next, `the name of a column is expected here${columnAdvice(next)}`);
}

function columnAdvice(token: Token): string {
  if (token.kind === 'word' && token.text.toLowerCase() === 'not') {
    return '; no rule begins with not: write !=, not in, not contains or is not empty';
  }
  if (token.kind === 'number' && typeof numberOf(token.text) === 'number') {
    return `, and its value after the operator: price < ${token.text}`;
  }
  if (token.kind === 'word' || token.kind === 'number')
    return `; a column of this name is written "${token.text}"`;
  return ', as in price < 3';
}

function afterRule(token: Token): string {
  const expected = 'and, or, or the end of the filter is expected here';
  return token.kind === 'text' ? `${expected}; a quote in a text is written \\' or \\"` : expected;
}
