import { type Cell, Nested, numberCell } from '../cells.js';
import { BadRow } from '../rows.js';

/** A member of a JSON object, with its value as it is written. */
export interface Member {
  name: string;
  json: string;
}

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const BRACKET_OR_QUOTE = /["[\]{}]/g;

/**
 * Returns the members of a JSON object in their order. `JSON.parse` would change the order of names that are integers,
 * keep only the last of two members with one name, and round numbers.
 *
 * @throws {BadRow} for a text that is not one JSON object, or has two members of one name.
 */
export function membersOf(text: string): Member[] {
  const reader = new Reader(text);
  reader.space();
  if (!reader.takes('{')) throw new BadRow(notAnObject(text));
  const members: Member[] = [];
  reader.space();
  if (!reader.takes('}')) {
    do {
      reader.space();
      const name = JSON.parse(reader.string()) as string;
      reader.space();
      reader.expect(':');
      reader.space();
      members.push({ name, json: reader.value() });
      reader.space();
    } while (reader.takes(','));
    reader.expect('}');
  }
  reader.space();
  if (reader.at < text.length) throw reader.unexpected('the end of the line');
  const names = new Set<string>();
  for (const { name } of members) {
    if (names.has(name)) throw new BadRow(`the member "${name}" occurs twice`);
    names.add(name);
  }
  return members;
}

function notAnObject(text: string): string {
  const isList = text.trimStart().startsWith('[');
  return isList
    ? "is not a JSON object, but a list: name its values, for example by jq -c '.[] | {a: .[0], b: .[1]}'"
    : 'is not a JSON object';
}

export function isJsonObject(text: string): boolean {
  try {
    membersOf(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the elements of a JSON list; undefined for another text. */
export function listOf(text: string): Cell[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    return elementsOf(text).map(cellOf);
  } catch {
    return undefined;
  }
}

/**
 * Returns the elements of a JSON list as they are written.
 *
 * @throws {BadRow} for a text that is not one JSON list.
 */
function elementsOf(text: string): string[] {
  const reader = new Reader(text);
  reader.space();
  reader.expect('[');
  const elements: string[] = [];
  reader.space();
  if (!reader.takes(']')) {
    do {
      reader.space();
      elements.push(reader.value());
      reader.space();
    } while (reader.takes(','));
    reader.expect(']');
  }
  reader.space();
  if (reader.at < text.length) throw reader.unexpected('the end of the list');
  return elements;
}

/** Returns the value of a member. */
export function cellOf(json: string): Cell {
  switch (json[0]) {
    case '"':
      return JSON.parse(json) as string;
    case '{':
    case '[':
      return new Nested(json);
    case 't':
      return true;
    case 'f':
      return false;
    case 'n':
      return null;
    default:
      return numberCell(json);
  }
}

/** Levels of objects and lists in the text of a value. */
const MAX_DEPTH = 64;

/** @throws {BadRow} for JSON that no request may have: it is no text of a value then. */
export function checkText(json: string, depth = 1): void {
  if (depth > MAX_DEPTH) throw new BadRow(`a value is nested deeper than ${MAX_DEPTH} levels`);
  if (json.startsWith('{')) {
    for (const member of membersOf(json)) {
      checkString(member.name);
      checkText(member.json, depth + 1);
    }
  } else if (json.startsWith('[')) {
    for (const element of elementsOf(json)) checkText(element, depth + 1);
  } else if (json.startsWith('"')) checkString(JSON.parse(json) as string);
  else if (/\d/.test(json) && !Number.isFinite(Number(json))) {
    throw new BadRow(`the number ${json} is outside the range of a double`);
  }
}

function checkString(text: string): void {
  if (!text.isWellFormed()) throw new BadRow('a string contains half of a surrogate pair');
}

/** Returns the usual text of JSON: without white space, and with the shortest form of every string. Numbers stay as they are. */
export function compactJson(json: string): string {
  let text = '';
  let at = 0;
  for (let quote = json.indexOf('"'); quote >= 0; quote = json.indexOf('"', at)) {
    text += withoutSpace(json.slice(at, quote));
    at = endOfString(json, quote);
    const string = json.slice(quote, at);
    text += string.includes('\\') ? JSON.stringify(JSON.parse(string)) : string;
  }
  return text + withoutSpace(json.slice(at));
}

function withoutSpace(json: string): string {
  return json.replaceAll(/[\t\n\r ]+/g, '');
}

/** Returns the index after the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  throw new BadRow(`is not JSON: the string at character ${start + 1} is not closed`);
}

class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  space(): void {
    const code = this.#text.charCodeAt(this.at);
    if (code > 0x20) return;
    SPACE.lastIndex = this.at;
    SPACE.test(this.#text);
    this.at = SPACE.lastIndex;
  }

  takes(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  expect(character: string): void {
    if (!this.takes(character)) throw this.unexpected(`"${character}"`);
  }

  /** Reads a value and returns its JSON. */
  value(): string {
    const character = this.#text[this.at];
    if (character === '"') return this.string();
    if (character === '{' || character === '[') return this.#nested();
    SCALAR.lastIndex = this.at;
    if (!SCALAR.test(this.#text)) throw this.unexpected('a value');
    return this.#slice(SCALAR.lastIndex);
  }

  string(): string {
    if (this.#text[this.at] !== '"') throw this.unexpected('a string');
    const start = this.at;
    const json = this.#slice(endOfString(this.#text, start));
    // Everything else between two quotes is a string as it is.
    if (/[\\\p{Cc}]/u.test(json)) this.#check(json, start);
    return json;
  }

  #nested(): string {
    const start = this.at;
    let depth = 0;
    BRACKET_OR_QUOTE.lastIndex = start;
    for (let match = BRACKET_OR_QUOTE.exec(this.#text); match; match = BRACKET_OR_QUOTE.exec(this.#text)) {
      const [character] = match;
      if (character === '"') BRACKET_OR_QUOTE.lastIndex = endOfString(this.#text, match.index);
      else depth += character === '{' || character === '[' ? 1 : -1;
      if (depth > 0) continue;
      const json = this.#slice(match.index + 1);
      this.#check(json, start);
      return json;
    }
    throw new BadRow(`is not JSON: what opens at character ${start + 1} is not closed`);
  }

  #slice(end: number): string {
    const json = this.#text.slice(this.at, end);
    this.at = end;
    return json;
  }

  #check(json: string, start: number): void {
    try {
      JSON.parse(json);
    } catch (error) {
      throw new BadRow(`is not JSON: the value at character ${start + 1}: ${(error as Error).message}`);
    }
  }

  unexpected(wanted: string): BadRow {
    const found = this.#text[this.at];
    return new BadRow(
      found === undefined
        ? `is not JSON: it ends where ${wanted} is expected`
        : `is not JSON: character ${this.at + 1} is "${found}", not ${wanted}`,
    );
  }
}
