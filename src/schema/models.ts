/** A model that is an npm package, and that every program finds by its name once the package is installed. */
interface PackagedModel {
  package: string;
}

/** The model of a database whose settings name no model. It knows English alone. */
export const BUILT_IN_MODEL = 'all-MiniLM-L6-v2';

/** The model for texts in other languages. */
export const MULTILINGUAL_MODEL = 'multilingual-e5-small';

/** Everything that is known of single models. */
export const PACKAGED_MODELS = {
  [BUILT_IN_MODEL]: {
    package: '@cosift/model-minilm',
  },
  [MULTILINGUAL_MODEL]: {
    package: '@cosift/model-multilingual-e5',
  },
} as const satisfies Record<string, PackagedModel>;

export type PackagedModelName = keyof typeof PACKAGED_MODELS;

export function isPackagedModel(name: string): name is PackagedModelName {
  return Object.hasOwn(PACKAGED_MODELS, name);
}
