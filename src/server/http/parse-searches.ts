import { TurnBudget } from '../../async/turn-budget.js';
import { atPlace, CosiftError, withDetails } from '../../errors.js';
import { jsonValues, type Limits, MAX_SEARCHES } from '../../schema/index.js';
import { tooLarge } from './body-buffer.js';
import { parseStrictJson, tooManyValues } from './strict-json.js';

/**
 * Parses a batch of searches over several turns of the event loop: each search is parsed as the body of a single one, with
 * the same limits.
 *
 * @throws {CosiftError} as {@link parseStrictJson}, with the place of the search, and with offsets of bytes in `body`.
 */
export async function parseSearches(body: Buffer, limits: Limits): Promise<unknown> {
  const turns = new TurnBudget();
  const { envelope, items } = await splitItems(body, jsonValues(limits), turns);
  const bytes = Buffer.from(envelope.map(({ text }) => text).join(''), 'latin1');
  const batch = parsePart(bytes, limits, (at) => offsetInBody(envelope, at)) as { searches?: unknown } | null;
  const searches = batch?.searches;
  // The check of the request refuses it.
  if (!Array.isArray(searches) || searches.length > MAX_SEARCHES) return batch;
  for (const [at, item] of searches.entries()) {
    try {
      const { bytes, from } = items[item] as Item;
      if (bytes.length > limits.body_bytes) throw tooLarge(limits.body_bytes);
      searches[at] = parsePart(bytes, limits, (offset) => from + offset);
    } catch (error) {
      throw error instanceof CosiftError ? inSearch(error, at) : error;
    }
    if (turns.isUsed) await turns.next();
  }
  return batch;
}

/** Returns an error of a search as that of the search at a place of a batch. */
export function inSearch(error: CosiftError, at: number): CosiftError {
  const named = withDetails(error, (detail) => detail.replace(/^the body /, 'the search '));
  return atPlace(named, `/searches/${at}`);
}

/** An item of an array, which begins at the offset `from` of the body. */
interface Item {
  bytes: Buffer;
  from: number;
}

/** A part of the envelope, with a character for each byte. It has or replaces what begins at the offset `from` of the body. */
interface EnvelopePart {
  text: string;
  from: number;
}

/** Parses strict JSON of a body. `offsetOf` returns the offset in the body of an offset in `bytes`, for errors. */
function parsePart(bytes: Buffer, limits: Limits, offsetOf: (at: number) => number): unknown {
  try {
    return parseStrictJson(bytes, limits);
  } catch (error) {
    if (!(error instanceof CosiftError)) throw error;
    throw withDetails(error, (detail) =>
      detail.replace(/, at byte (\d+)$/, (_, at) => `, at byte ${offsetOf(Number(at))}`),
    );
  }
}

function offsetInBody(envelope: readonly EnvelopePart[], at: number): number {
  let rest = at;
  for (const { text, from } of envelope.slice(0, -1)) {
    if (rest < text.length) return from + rest;
    rest -= text.length;
  }
  return envelope.at(-1)!.from + rest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Bytes of a body that are read before the time of the turn is looked at. */
const SLICE_BYTES = 65_536;
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from('\t\n\r '));

/**
 * Splits a body into the items of the arrays in its outermost object, and the rest, which has in place of each item its
 * number. What is in an object there is left out: no batch has one. Whether the parts are JSON is left to their parser.
 */
async function splitItems(
  body: Buffer,
  maxItems: number,
  turns: TurnBudget,
): Promise<{ envelope: EnvelopePart[]; items: Item[] }> {
  const items: Item[] = [];
  const envelope: EnvelopePart[] = [];
  let depth = 0;
  let isString = false;
  let isArray = false;
  // Where the bytes begin that are not in `envelope` or `items`.
  let start = 0;
  const endPart = (end: number) => {
    envelope.push({ text: body.toString('latin1', start, end), from: start });
    start = end;
  };
  const endItem = (end: number) => {
    const item = { bytes: body.subarray(start, end), from: start };
    start = end;
    // An array without items, or a comma without an item, which the parser refuses.
    if (!isArray || item.bytes.every((byte) => WHITE_SPACE.has(byte))) return;
    if (items.length === maxItems) throw tooManyValues(maxItems);
    envelope.push({ text: String(items.length), from: item.from });
    items.push(item);
  };
  for (let at = 0; at < body.length; ) {
    const end = Math.min(at + SLICE_BYTES, body.length);
    for (; at < end; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) isString = !isString;
      else if (isString) at += byte === BACKSLASH ? 1 : 0;
      else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
        depth += 1;
        if (depth === 2) {
          isArray = byte === OPENING_BRACKET;
          endPart(at + 1);
        }
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
        if (depth === 2) endItem(at);
        depth -= 1;
      } else if (byte === COMMA && depth === 2 && isArray) {
        endItem(at);
        envelope.push({ text: ',', from: at });
        start = at + 1;
      }
    }
    if (turns.isUsed) await turns.next();
  }
  endPart(body.length);
  return { envelope, items };
}
