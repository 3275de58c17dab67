import { WhereError } from './where-error.js';

/** A part of a filter. `start` is its place in the text. */
export type Token = { start: number } & (
  | { kind: 'word' | 'symbol'; text: string }
  | { kind: 'text'; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'end' }
);

const SPACE = /\s*/uy;
const WORD = /[_\p{ID_Start}][.\-\p{ID_Continue}]*/uy;
// More than the digits of a number, so that `1.5.2` is reported as a whole.
const NUMBER = /[-+.]?\p{Nd}[.\-+\p{ID_Continue}]*/uy;
const UNQUOTED = /[^"'\\]+/uy;
const SYMBOL = /[=!<>~&|]+|[(),]/uy;

const SYMBOLS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', '(', ')', ',']);

/** What to write in place of symbols of other languages. */
const INSTEAD: Readonly<Record<string, string>> = {
  '==': '=',
  '===': '=',
  '<>': '!=',
  '!==': '!=',
  '=<': '<=',
  '=>': '>=',
  '&': 'and',
  '&&': 'and',
  '|': 'or',
  '||': 'or',
  '~': 'contains',
  '=~': 'contains',
};

/** Reads the parts of a filter, one after the other; the last one is `end`. */
export class Tokens {
  readonly text: string;
  #at = 0;
  #next: Token;

  constructor(text: string) {
    this.text = text;
    this.#next = this.#read();
  }

  /** Returns the next part, which stays the next one. */
  peek(): Token {
    return this.#next;
  }

  /** Returns the next part and goes on to the one after it. */
  take(): Token {
    const token = this.#next;
    this.#next = this.#read();
    return token;
  }

  /** Takes the next part if it is one of these words, in capitals or not. */
  takeWord(word: string): boolean {
    const next = this.peek();
    if (next.kind !== 'word' || next.text.toLowerCase() !== word) return false;
    this.take();
    return true;
  }

  takeSymbol(symbol: string): boolean {
    const next = this.peek();
    if (next.kind !== 'symbol' || next.text !== symbol) return false;
    this.take();
    return true;
  }

  /** The error of a part, or of the place `at`. */
  error(at: number | Token, reason: string): WhereError {
    return new WhereError(reason, { text: this.text, at: typeof at === 'number' ? at : at.start });
  }

  #read(): Token {
    this.#match(SPACE);
    const start = this.#at;
    if (start === this.text.length) return { kind: 'end', start };
    const quote = this.text[start];
    if (quote === '"' || quote === "'") return { kind: 'text', start, value: this.#quoted(quote) };
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: 'word', start, text: word };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'number', start, text: number };
    const symbol = this.#match(SYMBOL);
    if (symbol !== undefined && SYMBOLS.has(symbol)) return { kind: 'symbol', start, text: symbol };
    throw this.error(start, notTaken(symbol ?? String.fromCodePoint(this.text.codePointAt(start) ?? 0)));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** Reads a text in quotes, with the escapes of JSON and `\'`. */
  #quoted(quote: string): string {
    const start = this.#at;
    let json = '"';
    for (let at = start + 1; at < this.text.length; at++) {
      this.#at = at;
      const run = this.#match(UNQUOTED);
      if (run !== undefined) {
        // JSON takes no control characters as they are.
        json += JSON.stringify(run).slice(1, -1);
        at = this.#at - 1;
        continue;
      }
      const character = this.text[at] ?? '';
      if (character === quote) {
        this.#at = at + 1;
        return JSON.parse(`${json}"`) as string;
      }
      if (character !== '\\') {
        // The other quote.
        json += JSON.stringify(character).slice(1, -1);
        continue;
      }
      const [sequence = ''] = /^\\(?:u[\da-f]{4}|["'\\/bfnrt])/i.exec(this.text.slice(at, at + 6)) ?? [];
      if (sequence === '' || sequence.startsWith('\\U')) {
        throw this.error(at, 'a backslash in a text is written \\\\; \\n, \\t and \\u00e9 are escapes, too');
      }
      json += sequence === "\\'" ? "'" : sequence;
      at += sequence.length - 1;
    }
    throw this.error(start, `the text has no end: a ${quote} is missing`);
  }
}

function notTaken(symbol: string): string {
  const instead = INSTEAD[symbol];
  if (instead !== undefined) return `${symbol} is not an operator: write ${instead}`;
  if (/^[“”„‘’`´]/.test(symbol)) return `names and texts are written in the quotes ' or ", not ${symbol}`;
  return `${symbol} is not expected here; names and texts that contain it are written in quotes`;
}
