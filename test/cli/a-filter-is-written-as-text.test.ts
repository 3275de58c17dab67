import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { satisfies } from '../../bench/data/predicate.js';
import type { Data, Filter, FilterGroup, Operator } from '../../src/schema/index.js';
import { parseWhere } from '../../src/where/parse-where.js';
import { randomFilter } from '../conformance/random-records.js';
import { Random } from '../helpers/random.js';

const WORDS: Record<Operator, string> = {
  equals: '=',
  not_equals: '!=',
  less_than: '<',
  less_than_or_equals: '<=',
  greater_than: '>',
  greater_than_or_equals: '>=',
  contains: 'contains',
  not_contains: 'not contains',
  starts_with: 'starts with',
  ends_with: 'ends with',
  is_empty: 'is empty',
  is_not_empty: 'is not empty',
  in: 'in',
  not_in: 'not in',
  before: 'before',
  after: 'after',
  on_or_before: 'on or before',
  on_or_after: 'on or after',
};

/** Writes a filter as text, in one of the many ways in which it can be written. */
class Writer {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  filter(filter: Filter, outer?: 'AND' | 'OR'): string {
    if (!('rules' in filter)) return this.#rule(filter);
    const { condition = 'AND', rules } = filter;
    const joined = rules
      .map((rule) => this.filter(rule, condition))
      .join(`${this.#space()}${this.#cased(condition)}${this.#space()}`);
    // `and` binds closer than `or`. Parentheses keep a group of the same condition apart.
    const isBare = outer === undefined || (outer === 'OR' && condition === 'AND' && rules.length > 1);
    return isBare && this.#random.chance(70) ? joined : `(${joined})`;
  }

  #rule(rule: Exclude<Filter, FilterGroup>): string {
    const column = /^\p{ID_Start}[\p{ID_Continue}.-]*$/u.test(rule.column) && this.#random.chance(60);
    const parts = [column ? rule.column : this.#quoted(rule.column), this.#cased(WORDS[rule.operator])];
    if ('value' in rule) parts.push(this.#operand(rule.value));
    return parts.join(this.#space());
  }

  #operand(value: unknown): string {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#operand(item));
      return `(${items.join(`${this.#space()},${this.#space()}`)})`;
    }
    return typeof value === 'string' ? this.#quoted(value) : this.#cased(String(value));
  }

  #quoted(text: string): string {
    const quote = this.#random.pick(['"', "'"]);
    const letters = text.split('').map((unit) => {
      if (unit === quote || unit === '\\') return `\\${unit}`;
      const code = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return this.#random.chance(10) ? `\\u${code}` : unit;
    });
    return quote + letters.join('') + quote;
  }

  #cased(word: string): string {
    return this.#random.chance(30) ? word.toUpperCase() : word.toLowerCase();
  }

  #space(): string {
    return this.#random.pick([' ', '  ', '\n', '\t ', '\u00a0']);
  }
}

/** A group of one rule means the rule: a text has no other way to write it. */
function withoutSingles(filter: Filter): Filter {
  if (!('rules' in filter)) return filter;
  const rules = filter.rules.map(withoutSingles);
  return rules.length === 1 ? rules[0]! : { condition: filter.condition ?? 'AND', rules };
}

test('every filter can be written as text', () => {
  const random = new Random(14);
  const writer = new Writer(random);
  for (let run = 0; run < 3_000; run++) {
    const filter = randomFilter(random, 4);
    const text = writer.filter(filter);
    expect(parseWhere(text), text).toEqual(withoutSingles(filter));
    expect(parseWhere(` ${JSON.stringify(filter)}`)).toEqual(filter);
  }
});

test('a filter as text finds the records that the same filter as JSON finds', () => {
  interface Golden {
    matches: { data: Data; filter: FilterGroup; matches: boolean }[];
  }
  const golden: Golden = JSON.parse(readFileSync(new URL('../golden/filter.json', import.meta.url), 'utf8'));
  const writer = new Writer(new Random(15));
  for (const { data, filter, matches } of golden.matches) {
    const text = writer.filter(filter);
    expect(satisfies(data, parseWhere(text)), text).toBe(matches);
  }
  expect(golden.matches.length).toBeGreaterThan(100);
});

test('and binds closer than or', () => {
  const rule = (column: string) => ({ column, operator: 'equals', value: 1 }) as const;
  expect(parseWhere('a=1 or b=1 and c=1 or d=1')).toEqual({
    condition: 'OR',
    rules: [rule('a'), { condition: 'AND', rules: [rule('b'), rule('c')] }, rule('d')],
  });
  expect(parseWhere('(a=1 or b=1) and c=1')).toEqual({
    condition: 'AND',
    rules: [{ condition: 'OR', rules: [rule('a'), rule('b')] }, rule('c')],
  });
});

test.each([
  ['height_m>=-1.5e3', 'height_m', -1500],
  ['"unit price" = "a\\"b\'c"', 'unit price', 'a"b\'c'],
  ["'it\\'s' != 'new\nline'", "it's", 'new\nline'],
  ["größe.cm-2 = '\\u00e9\\\\'", 'größe.cm-2', 'é\\'],
  ['東京 = TRUE', '東京', true],
  ['contains = false', 'contains', false],
  ['id = 9007199254740992.0', 'id', 9007199254740992],
  ['"and" = 0', 'and', 0],
  ['__proto__ = 1', '__proto__', 1],
])('%s', (text, column, value) => {
  expect(parseWhere(text)).toMatchObject({ column, value });
});

/** The lines of the message that refuses a filter. */
function messageOf(text: string): string[] {
  try {
    return [`taken as ${JSON.stringify(parseWhere(text))}`];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

test.each([
  ['', '^', 'empty'],
  ['price <', '       ^', 'a number such as 0.5 is expected after <'],
  ["price < 'x'", '        ^', 'compares numbers only'],
  ['section = graphics', '          ^', "a text is written in quotes: 'graphics'"],
  ['section contains 3', '                 ^', "'3'"],
  ['unit price < 3', '     ^', 'a column with spaces is written in quotes'],
  ['3 < price', '^', 'the name of a column is expected here'],
  ['not a = 1', '^', 'not contains'],
  ['a = 1 and', '         ^', 'the name of a column'],
  ['a = 1 b = 2', '      ^', 'and, or, or the end'],
  ['(a = 1', '^', 'not closed'],
  ['a = 1)', '     ^', 'and, or, or the end'],
  ['a = null', '    ^', 'a is empty'],
  ['a is null', '     ^', 'is empty'],
  ['a == 1', '  ^', 'write ='],
  ['a <> 1', '  ^', 'write !='],
  ["a in 'x'", '     ^', "a list such as ('red', 3)"],
  ['a in ()', '      ^', "a text such as 'red', a number, true or false is expected after in"],
  ["a not in ('x' 'y')", '              ^', 'a comma or the end of the list'],
  ["a in ('x', 1", '     ^', 'this list is not closed'],
  ['a in (x)', '      ^', "a text is written in quotes: 'x'"],
  ['a = 1, b = 2', '     ^', 'and, or, or the end'],
  ['a before 2026-01-31', '         ^', "'2026-01-31'"],
  ['a on or near 1', '        ^', 'before, after'],
  ['a starts_with 1', '  ^', 'did you mean "starts with"'],
  ["a = 'x", '    ^', "a ' is missing"],
  ["a = 'C:\\x'", '       ^', 'a backslash'],
  ["a = 'it''s'", '        ^', "\\'"],
  ['a = “x”', '    ^', 'quotes'],
  ['a = 007', '    ^', "'007'"],
  ['a = 9007199254740993', '    ^', 'more digits than a number holds'],
  ['a = 9007199254740993.0', '    ^', 'more digits than a number holds'],
  ['a = 1e999', '    ^', 'outside the range'],
  ['a = 1e-999', '    ^', 'outside the range'],
  ['東京 = x', '       ^', "'x'"],
  ['cafe\u0301 = x', '       ^', "'x'"],
  ["a\t= 'x' xor", '        ^', 'and, or'],
  ['{"rules":1,}', '           ^', 'not JSON'],
  ['{"value":9007199254740993}', '         ^', 'more digits'],
  ['{"rules":[],"rule\\u0073":[]}', '            ^', 'the member "rules" is given twice'],
])('%s is refused, with its place', (text, caret, reason) => {
  const [first, shown, pointer] = messageOf(text);
  expect(first).toContain(reason);
  expect(shown).toBe(`  ${text.replaceAll('\t', ' ')}`);
  expect(pointer).toBe(`  ${caret}`);
});

test('of a long filter, only the part around the place is shown', () => {
  const [, shown = '', pointer = ''] = messageOf(`${'a = 1 or '.repeat(99)}b ! 2 ${'or a = 1 '.repeat(99)}`);
  expect(shown.length).toBeLessThan(80);
  expect(shown[pointer.indexOf('^')]).toBe('!');
});

test('parentheses nested without end are refused', () => {
  expect(() => parseWhere('('.repeat(100_000))).toThrow('more than 32 parentheses');
  expect(parseWhere(`${'('.repeat(32)}a = 1${')'.repeat(32)}`)).toMatchObject({ column: 'a' });
});

test('JSON that is no filter is refused', () => {
  for (const text of ['{}', '{"value":1}']) expect(() => parseWhere(text), text).toThrow('rules is missing');
  const deep = '{"rules":['.repeat(50_000) + ']}'.repeat(50_000);
  expect(() => parseWhere(deep)).toThrow('more than 72 objects and arrays are open here');
  // A text is no name, and each object has its own names.
  const named = ['name', 'name: {[', 'a"b'].map((value) => ({ column: 'name', operator: 'equals', value }));
  expect(parseWhere(JSON.stringify({ rules: named }, null, 1))).toEqual({ rules: named });
});

test('a filter of any length is taken or refused with a reason', () => {
  expect(() => parseWhere("'".repeat(10_000_000))).toThrow('longer than 1000000 characters');
  for (const part of ['\\"', "'", '\\\\', 'x']) {
    const long = part.repeat(999_900 / part.length);
    expect(() => parseWhere(`a = "${long}`), part).toThrow('the text has no end');
    expect(() => parseWhere(`{"a":"${long}`), part).toThrow('not JSON');
    expect(parseWhere(`{"column":"a","operator":"equals","value":"${long}"}`)).toMatchObject({ column: 'a' });
  }
});
