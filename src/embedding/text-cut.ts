/**
 * Where a text can be cut within its first `size` characters so that the tokens of what comes before are the first
 * tokens of the whole text; undefined when there is no such place.
 */
export type CutPoint = (text: string, size: number) => number | undefined;

type Part = {
  type?: unknown;
  use_regex?: unknown;
  handle_chinese_chars?: unknown;
  clean_text?: unknown;
  pretokenizers?: unknown;
  normalizers?: unknown;
} | null;

/** Normalizers that treat what comes before a space without regard to what follows it. */
const LOCAL_NORMALIZERS = new Set([
  'BertNormalizer',
  'Lowercase',
  'NFC',
  'NFD',
  'NFKC',
  'NFKD',
  'StripAccents',
]);

/** Pre-tokenizers after which no token reaches over a space that follows a word. */
const SPLITTING = new Set(['BertPreTokenizer', 'Whitespace', 'WhitespaceSplit']);

const SPACES = new Set([' ', '\t', '\n', '\r']);
const SPACE = /^\s$/;

/**
 * Where texts can be cut for a tokenizer, by its `tokenizer.json`; undefined when that is not known, so that texts are
 * tokenised whole.
 *
 * Before a space that follows another character, nothing depends on what comes later: words are tokenised by
 * themselves, letters change their case by the letters of their word, and marks combine with the character before
 * them. Between two ideographs the same holds where the tokenizer makes each a word.
 */
export function cutPointsOf(config: { normalizer?: Part; pre_tokenizer?: Part }): CutPoint | undefined {
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

function partsOf(part: Part | undefined, list: 'pretokenizers' | 'normalizers'): Part[] {
  if (part === null || part === undefined) return [];
  return part.type === 'Sequence' ? (part[list] as Part[]).flatMap((inner) => partsOf(inner, list)) : [part];
}

/** Of the unified ideographs that BERT's tokenizer makes words of, those of the basic plane that are most in use. */
function isIdeograph(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x4e00 && code <= 0x9fff;
}
