/** A model that is an npm package, and that every program finds by its name once the package is installed. */
interface PackagedModel {
  package: string;
  /** What its scores mean: docs/how-to/thresholds.md has the measurements. */
  scores: {
    /** From here on, a record is related to the text of a search; for nearly every search, its right answer is above. */
    related: number;
    /** From here on, it is close in meaning to the text. */
    close: number;
    /** The weight of exact words to begin with. */
    lexical: number;
  };
}

/** The model of a database whose settings name no model. It knows English alone. */
export const BUILT_IN_MODEL = 'all-MiniLM-L6-v2';

/** The model for texts in other languages. */
export const MULTILINGUAL_MODEL = 'multilingual-e5-small';

/** Everything that is known of single models. */
export const PACKAGED_MODELS = {
  [BUILT_IN_MODEL]: {
    package: '@cosift/model-minilm',
    scores: { related: 0.3, close: 0.45, lexical: 0.3 },
  },
  [MULTILINGUAL_MODEL]: {
    package: '@cosift/model-multilingual-e5',
    // Nearly all cosines of this model are between 0.7 and 0.9.
    scores: { related: 0.84, close: 0.86, lexical: 0.1 },
  },
} as const satisfies Record<string, PackagedModel>;

export type PackagedModelName = keyof typeof PACKAGED_MODELS;

export function isPackagedModel(name: string): name is PackagedModelName {
  return Object.hasOwn(PACKAGED_MODELS, name);
}
