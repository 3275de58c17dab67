import type { LineBatch } from '../async/line-batches.js';
import { TurnBudget } from '../async/turn-budget.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;
/** The beginning of most lines. Their JSON is not parsed. */
const BEGINS_WITH_IDENTITY = /^\s*\{\s*"(?:id|uuid|key)"\s*:/;
const BEGINNING_BYTES = 64;

const decoder = new TextDecoder();

/**
 * Removes the records without `id`, `uuid` and `key` from a batch, whose bytes have empty lines in their place. Returns the
 * numbers of their lines. Lines that are no records stay, because the store says what is wrong with them.
 */
export async function takeLinesWithoutIdentity({ bytes, firstLine }: LineBatch): Promise<number[]> {
  const taken: number[] = [];
  const turns = new TurnBudget();
  let line = firstLine;
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    if (lacksIdentity(bytes.subarray(start, end))) {
      bytes.fill(SPACE, start, end);
      taken.push(line);
    }
    start = end + 1;
    line += 1;
    if (turns.isUsed) await turns.next();
  }
  return taken;
}

function lacksIdentity(line: Uint8Array): boolean {
  if (BEGINS_WITH_IDENTITY.test(decoder.decode(line.subarray(0, BEGINNING_BYTES)))) return false;
  try {
    const record: unknown = JSON.parse(decoder.decode(line));
    if (typeof record !== 'object' || record === null || Array.isArray(record)) return false;
    return !['id', 'uuid', 'key'].some((name) => Object.hasOwn(record, name));
  } catch {
    return false;
  }
}
