import type { PassageSettings, TextLine } from '../api/text-line.js';
import type { ModelDirectory } from './model-directory.js';
import type { TextTokenizer } from './tokenizer.js';

/** A part of a text that fits into the window of the model. */
export interface Passage {
  text: string;
  /** The line that most of the passage comes from. */
  line: number;
  /** The range in the value of that line. */
  start: number;
  end: number;
}

export interface SplitText {
  /** The number of passages; one more than allowed for a text with more, which is not read to its end. */
  count: number;
  /** Empty when there are more than allowed. */
  passages: Passage[];
}

/**
 * Counts the tokens of a text as the model takes it, with its prompt and special tokens. Of a text beyond the window, any
 * number beyond it, so that a long text need not be tokenised as a whole.
 */
export type CountTokens = (text: string) => number;

/** What a text is to the model. */
export interface TextMeasures {
  count: CountTokens;
  /** Whether the model knows anything of a value. */
  knows(value: string): boolean;
}

/** The window of a model, and what passages of a text may be like. */
export interface SplitLimits extends PassageSettings {
  maxTokens: number;
}

/**
 * The part of the window that a passage takes at most, unless the settings say otherwise. The vector of a shorter passage
 * says more about each sentence: when each text holds twenty of the demo facts, the mean reciprocal rank of the right text
 * for 96 judged queries in three shuffles is 0.542 with half of the built-in model's window, and 0.475 with all of it (paired
 * difference 0.066 ± 0.042, 95 %). Still shorter passages rank such lists of facts higher, but a text then has many more
 * vectors, and a passage holds less of what belongs together.
 */
const PASSAGE = 1 / 2;

/** A short line stands before every passage if it has at most this part of it, and all such lines twice as much. */
const SHORT_LINE = 1 / 8;

/** A label with more than this part of a passage is left out. */
const LONG_LABEL = 1 / 4;

/** The part of a passage that it shares with the passage before it, unless the settings say otherwise. */
const OVERLAP = 1 / 8;

/** The part of a passage up to which the sum of the tokens of its parts is not checked. */
const UNCHECKED_SHARE = 3 / 4;

/**
 * The characters of a passage on average, at least, and for each token that it may have: two passages together fill most of
 * the window of the model, or of twice these tokens, and a token has a character or a part of one.
 */
const MIN_PASSAGE = 16;
const MIN_OF_TOKEN = 1 / 16;

/** The characters that a segmenter gets at a time. */
const SEGMENTED = 4_096;

// Root locale, so that the machine's language makes no difference.
const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });

/** A line of the text: its label, such as `title: `, and its value. */
interface Line {
  index: number;
  label: string;
  value: string;
}

/** A range of a line's value. */
interface Piece {
  line: Line;
  start: number;
  end: number;
}

/**
 * Splits a text that is too long for one vector.
 *
 * Short lines, such as a title, stand before every passage. The other lines are cut between sentences; a sentence that is
 * too long is cut between words, and a word anywhere. A passage repeats the end of the passage before it. A passage of whose values the model knows nothing is left out.
 */
export function splitText(
  text: string,
  lines: readonly TextLine[],
  measures: TextMeasures,
  limits: SplitLimits,
): SplitText {
  const all = lines.map(({ start, end }, index): Line => {
    const label = text.slice(index === 0 ? 0 : lines[index - 1]!.end + 1, start);
    return { index, label, value: text.slice(start, end) };
  });
  return new Splitter(all, measures, limits).split();
}

/**
 * The characters of a text that has no more passages than allowed: a shorter one need not be split to know that. A window of a
 * few tokens makes shorter passages.
 */
export function shortLength({ perRecord, tokens }: PassageSettings): number {
  return perRecord * (tokens === undefined ? MIN_PASSAGE : Math.floor(tokens * MIN_OF_TOKEN));
}

/** Whether a text may have more passages than allowed. */
export function mayHaveMore(text: string, passages: PassageSettings): boolean {
  return text.length > shortLength(passages);
}

interface SplitPart {
  kind: keyof ModelDirectory['prompts'];
  text: string;
  lines: readonly TextLine[];
  passages: PassageSettings;
}

export function splitWith(
  tokenizer: Pick<TextTokenizer, 'countToWindow' | 'knows'>,
  { maxTokens, prompts }: Pick<ModelDirectory, 'maxTokens' | 'prompts'>,
  { kind, text, lines, passages }: SplitPart,
): SplitText {
  const count = (part: string) => tokenizer.countToWindow(prompts[kind] + part);
  const knows = (part: string) => tokenizer.knows(part);
  return splitText(text, lines, { count, knows }, { ...passages, maxTokens });
}

class Splitter {
  readonly #lines: readonly Line[];
  readonly #count: CountTokens;
  readonly #knows: TextMeasures['knows'];
  readonly #maxPassages: number;
  /** The tokens of a passage at most, with those of a text without words. */
  readonly #maxTokens: number;
  /** The tokens of a text without words: prompt and special tokens. */
  readonly #empty: number;
  /** Short lines, which stand before every passage. */
  readonly #heading: string;
  /** Whether the model knows anything of the values of the heading. */
  readonly #isHeadingKnown: boolean;
  /** Tokens of a passage that the heading leaves. */
  readonly #room: number;
  /** Tokens that a passage repeats of the one before it, at most. */
  readonly #maxOverlap: number;
  readonly #passages: Passage[] = [];
  /** Passages of which the model knows nothing. */
  #unknown = 0;
  #pieces: Piece[] = [];
  #tokens = 0;

  constructor(lines: readonly Line[], { count, knows }: TextMeasures, limits: SplitLimits) {
    this.#count = count;
    this.#knows = knows;
    this.#maxPassages = limits.perRecord;
    this.#empty = count('');
    this.#maxTokens = limits.tokens ?? this.#empty + Math.ceil((limits.maxTokens - this.#empty) * PASSAGE);
    const room = this.#maxTokens - this.#empty;
    const short: Line[] = [];
    let tokens = 0;
    for (const line of lines) {
      if (this.#tokensOf(line.label) > room * LONG_LABEL) line.label = '';
      const own = this.#tokensOf(`${line.label}${line.value}`);
      if (own > room * SHORT_LINE || tokens + own > 2 * room * SHORT_LINE) continue;
      short.push(line);
      tokens += own;
    }
    this.#lines = lines.filter((line) => !short.includes(line));
    this.#heading = short.map(({ label, value }) => `${label}${value}\n`).join('');
    this.#isHeadingKnown = short.some(({ value }) => knows(value));
    this.#room = room - this.#tokensOf(this.#heading);
    this.#maxOverlap = limits.overlap ?? this.#room * OVERLAP;
  }

  split(): SplitText {
    for (const line of this.#lines) {
      for (const unit of this.#units({ line, start: 0, end: line.value.length })) {
        this.#add(unit);
        // A text with too many passages is refused: the rest of it is not split.
        if (this.#hasTooMany()) return this.#result();
      }
    }
    this.#flush();
    return this.#result();
  }

  #hasTooMany(): boolean {
    return this.#passages.length + this.#unknown > this.#maxPassages;
  }

  #result(): SplitText {
    if (this.#hasTooMany()) return { count: this.#maxPassages + 1, passages: [] };
    return { count: this.#passages.length, passages: this.#passages };
  }

  #tokensOf(text: string): number {
    return this.#count(text) - this.#empty;
  }

  /** Cuts a piece between sentences; those that are too long for a passage are cut further. */
  *#units(piece: Piece): Generator<Piece> {
    for (const sentence of segments(SENTENCES, piece)) {
      if (this.#fits([sentence])) yield sentence;
      else for (const word of segments(WORDS, sentence)) yield* this.#halves(word);
    }
  }

  /** Cuts a piece anywhere, but between code points, until each part fits into a passage. */
  *#halves(piece: Piece): Generator<Piece> {
    const { line, start, end } = piece;
    let middle = (start + end) >> 1;
    if (isLowSurrogate(line.value, middle)) middle += 1;
    // A character is not cut, even if it does not fit.
    if (middle <= start || middle >= end || this.#fits([piece])) {
      yield piece;
      return;
    }
    yield* this.#halves({ line, start, end: middle });
    yield* this.#halves({ line, start: middle, end });
  }

  /** Adds a unit to the current passage, or begins the next passage with it. */
  #add(unit: Piece): void {
    const tokens = this.#tokensOf(sliceOf(unit));
    const last = this.#pieces.at(-1);
    const label = last?.line === unit.line ? 0 : this.#tokensOf(unit.line.label);
    // Counting only the added text is fast and nearly exact, so the whole passage is counted only when it is nearly full.
    const sum = this.#tokens + label + tokens;
    const extended = extend(this.#pieces, unit);
    const fits = sum <= this.#room && (sum <= this.#room * UNCHECKED_SHARE || this.#fits(extended));
    if (last === undefined || fits) {
      this.#pieces = extended;
      this.#tokens = sum;
      return;
    }
    this.#flush();
    const overlap = last.line === unit.line ? this.#overlap(last) : undefined;
    const joined = overlap === undefined ? undefined : { ...unit, start: overlap };
    this.#pieces = [joined !== undefined && this.#fits([joined]) ? joined : unit];
    this.#tokens = this.#tokensOf(textOf(this.#pieces));
  }

  /** Where the repeated end of a piece begins: at a sentence if possible, or at a word; undefined for nothing. */
  #overlap({ line, start, end }: Piece): number | undefined {
    for (const segmenter of [SENTENCES, WORDS]) {
      let from: number | undefined;
      for (const { start: at } of [...segments(segmenter, { line, start, end })].reverse()) {
        if (at === start || this.#tokensOf(line.value.slice(at, end)) > this.#maxOverlap) break;
        from = at;
      }
      if (from !== undefined) return from;
    }
    return undefined;
  }

  #fits(pieces: readonly Piece[]): boolean {
    return this.#count(`${this.#heading}${textOf(pieces)}`) <= this.#maxTokens;
  }

  /** Ends the current passage. */
  #flush(): void {
    const pieces = this.#pieces.map(trimmed).filter(({ start, end }) => start < end);
    this.#pieces = [];
    this.#tokens = 0;
    if (pieces.length === 0) return;
    if (!this.#isHeadingKnown && !pieces.some((piece) => this.#knows(sliceOf(piece)))) {
      this.#unknown += 1;
      return;
    }
    const main = pieces.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
    const { line, start, end } = main;
    this.#passages.push({ text: `${this.#heading}${textOf(pieces)}`, line: line.index, start, end });
  }
}

/** The pieces with a unit that follows them. */
function extend(pieces: readonly Piece[], unit: Piece): Piece[] {
  const last = pieces.at(-1);
  if (last === undefined || last.line !== unit.line || last.end !== unit.start) return [...pieces, unit];
  return [...pieces.slice(0, -1), { ...last, end: unit.end }];
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => `${piece.line.label}${sliceOf(piece)}`).join('\n');
}

function sliceOf({ line, start, end }: Piece): string {
  return line.value.slice(start, end);
}

/** A piece without white space at its ends. */
function trimmed(piece: Piece): Piece {
  const value = sliceOf(piece);
  const end = piece.start + value.trimEnd().length;
  return { ...piece, start: Math.min(piece.end - value.trimStart().length, end), end };
}

/**
 * Cuts a piece, as far as the segments are read. Each step of a segmenter takes time in proportion to its whole text, so it
 * gets a few thousand characters at a time.
 */
function* segments(segmenter: Intl.Segmenter, piece: Piece): Generator<Piece> {
  const { line, end } = piece;
  let size = SEGMENTED;
  for (let from = piece.start; from < end; ) {
    const to = Math.min(from + size, end);
    let last: Piece | undefined;
    for (const { index, segment } of segmenter.segment(line.value.slice(from, to))) {
      if (last !== undefined) yield last;
      last = { line, start: from + index, end: from + index + segment.length };
    }
    if (last === undefined) return;
    if (to === end) yield last;
    // What follows may belong to the last segment, so the next part begins with it. A longer part is needed for a segment
    // that fills all of this one.
    size = last.start === from ? 2 * size : SEGMENTED;
    from = to === end ? end : last.start;
  }
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
