import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { loadFailure } from '../platform/platform.js';

const PACKAGE = '@cosift/model-minilm';

/**
 * Returns the directory of the built-in model.
 *
 * @throws {CosiftError} `not_installed`
 */
export function builtInModel(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  } catch (cause) {
    throw loadFailure(
      'the built-in model',
      [{ name: PACKAGE, cause }],
      [
        `Install it: npm install ${PACKAGE} @cosift/onnxruntime`,
        'Both are peer dependencies: npm leaves them out with --omit=peer, and Yarn never installs them by itself. Databases with vectors of your own work without them.',
      ],
    );
  }
}
