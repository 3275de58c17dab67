/**
 * Returns a position within the first `size` characters at which a text can be cut, so that the tokens of the first part
 * are the first tokens of the whole text; undefined if there is none.
 */
export type CutPoint = (text: string, size: number) => number | undefined;

type TokenizerPart = {
  type?: unknown;
  use_regex?: unknown;
  handle_chinese_chars?: unknown;
  clean_text?: unknown;
  pretokenizers?: unknown;
  normalizers?: unknown;
} | null;

/** Normalizers whose result before a space does not depend on the text after it. */
const LOCAL_NORMALIZERS = new Set([
  'BertNormalizer',
  'Lowercase',
  'NFC',
  'NFD',
  'NFKC',
  'NFKD',
  'StripAccents',
]);

/** Pre-tokenizers after which no token extends across a space that follows a word. */
const SPLITTING = new Set(['BertPreTokenizer', 'Whitespace', 'WhitespaceSplit']);

const SPACES = new Set([' ', '\t', '\n', '\r']);
const SPACE = /^\s$/;

/**
 * Returns the function that finds cut points for the tokenizer of this `tokenizer.json`; undefined if texts must be
 * tokenised as a whole.
 *
 * A text can be cut before a space that follows another character, because the tokens before it do not depend on the
 * text after it: words are tokenised separately, the case of a letter depends only on its word, and a combining mark
 * belongs to the character before it. A text can be cut between two ideographs if the tokenizer makes each of them a
 * word.
 */
export function cutPointsOf(config: {
  normalizer?: TokenizerPart;
  pre_tokenizer?: TokenizerPart;
}): CutPoint | undefined {
  const normalizers = partsOf(config.normalizer, 'normalizers');
  const splitters = partsOf(config.pre_tokenizer, 'pretokenizers');
  const local = normalizers.every((part) => LOCAL_NORMALIZERS.has(String(part?.type)));
  const splits = splitters.some(
    (part) => SPLITTING.has(String(part?.type)) || (part?.type === 'ByteLevel' && part.use_regex !== false),
  );
  if (!local || !splits) return undefined;
  const bert = normalizers.length === 1 && normalizers[0]?.type === 'BertNormalizer';
  const ideographs = bert && normalizers[0]?.handle_chinese_chars === true;
  return (text, size) => {
    for (let at = size; at > 0; at -= 1) {
      if (SPACES.has(text[at]!) && !SPACE.test(text[at - 1]!)) return at;
      if (ideographs && isIdeograph(text, at) && isIdeograph(text, at - 1)) return at;
    }
    return undefined;
  };
}

function partsOf(part: TokenizerPart | undefined, list: 'pretokenizers' | 'normalizers'): TokenizerPart[] {
  if (part === null || part === undefined) return [];
  return part.type === 'Sequence'
    ? (part[list] as TokenizerPart[]).flatMap((inner) => partsOf(inner, list))
    : [part];
}

/** Whether the character is in the main block of CJK unified ideographs. BERT's tokenizer makes each of them a word. */
function isIdeograph(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x4e00 && code <= 0x9fff;
}
