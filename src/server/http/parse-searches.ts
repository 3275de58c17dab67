import { TurnBudget } from '../../async/turn-budget.js';
import { atPlace, CosiftError } from '../../errors.js';
import { jsonValues, type Limits, MAX_SEARCHES } from '../../schema/index.js';
import { tooLarge } from './body-buffer.js';
import { parseStrictJson, tooManyValues } from './strict-json.js';

/**
 * Parses a batch of searches over several turns of the event loop: each search is parsed as the body of a single one, with
 * the same limits.
 *
 * @throws {CosiftError} as {@link parseStrictJson}, with the place of the search.
 */
export async function parseSearches(body: Buffer, limits: Limits): Promise<unknown> {
  const turns = new TurnBudget();
  const { envelope, items } = await splitItems(body, jsonValues(limits), turns);
  const batch = parseStrictJson(Buffer.from(envelope), limits) as { searches?: unknown } | null;
  const searches = batch?.searches;
  // The check of the request refuses it.
  if (!Array.isArray(searches) || searches.length > MAX_SEARCHES) return batch;
  for (const [at, item] of searches.entries()) {
    try {
      const bytes = items[item] as Buffer;
      if (bytes.length > limits.body_bytes) throw tooLarge(limits.body_bytes);
      searches[at] = parseStrictJson(bytes, limits);
    } catch (error) {
      throw error instanceof CosiftError ? atPlace(error, `/searches/${at}`) : error;
    }
    if (turns.isUsed) await turns.next();
  }
  return batch;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Bytes of a body that are read before the time of the turn is looked at. */
const SLICE_BYTES = 262_144;
const WHITE_SPACE = /^[\t\n\r ]*$/;

/**
 * Splits a body into the items of the arrays in its outermost object, and the rest, which has in place of each item its
 * number. What is in an object there is left out: no batch has one. Whether the parts are JSON is left to their parser.
 */
async function splitItems(
  body: Buffer,
  maxItems: number,
  turns: TurnBudget,
): Promise<{ envelope: string; items: Buffer[] }> {
  const items: Buffer[] = [];
  const parts: string[] = [];
  let depth = 0;
  let isString = false;
  let isArray = false;
  // Where the bytes begin that are not in `parts` or `items`.
  let start = 0;
  const endItem = (end: number) => {
    const item = body.subarray(start, end);
    start = end;
    // An array without items, or a comma without an item, which the parser refuses.
    if (!isArray || WHITE_SPACE.test(item.toString('latin1'))) return;
    if (items.length === maxItems) throw tooManyValues(maxItems);
    parts.push(String(items.length));
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
          parts.push(body.toString('utf8', start, at + 1));
          start = at + 1;
        }
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
        if (depth === 2) endItem(at);
        depth -= 1;
      } else if (byte === COMMA && depth === 2 && isArray) {
        endItem(at);
        parts.push(',');
        start = at + 1;
      }
    }
    if (turns.isUsed) await turns.next();
  }
  parts.push(body.toString('utf8', start));
  return { envelope: parts.join(''), items };
}
