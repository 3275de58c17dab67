import { dirname } from 'node:path';
import { requireFromPackage } from '../platform/package.js';
import { loadFailure } from '../platform/platform.js';
import { BUILT_IN_MODEL, PACKAGED_MODELS, type PackagedModelName } from '../schema/index.js';

/**
 * Returns the directory of a model that is a package.
 *
 * @throws {CosiftError} `not_installed`
 */
export function packagedModel(model: PackagedModelName): string {
  const name = PACKAGED_MODELS[model].package;
  try {
    return dirname(requireFromPackage.resolve(`${name}/package.json`));
  } catch (cause) {
    const isBuiltIn = model === BUILT_IN_MODEL;
    throw loadFailure(
      isBuiltIn ? 'the built-in model' : `the model ${model}`,
      [{ name, cause }],
      isBuiltIn
        ? [
            `Install it: npm install ${name} @cosift/onnxruntime`,
            'Both are peer dependencies: npm leaves them out with --omit=peer, and Yarn never installs them by itself. Databases with vectors of your own work without them.',
          ]
        : [`Install it beside cosift: npm install ${name}`],
    );
  }
}

/** The directories of the models whose packages are installed, by name. */
export function installedModels(): Record<string, string> {
  const names = Object.keys(PACKAGED_MODELS) as PackagedModelName[];
  const found = names.flatMap((name) => {
    try {
      return [[name, packagedModel(name)] as const];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(found);
}
