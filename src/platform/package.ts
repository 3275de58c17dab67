import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * Loads packages and native files as the code of this package does. The only use of `import.meta`: the build puts modules
 * together in other places, so a path from one to another file says nothing.
 */
export const requireFromPackage = createRequire(import.meta.url);

/** The folder of this package, which it finds by its own name: for the sources and for what the build makes of them. */
const ROOT = path.dirname(requireFromPackage.resolve('cosift/package.json'));

/** The path of a file or folder of this package. */
export function packageFile(name: string): string {
  return path.join(ROOT, name);
}

export function packageVersion(): string {
  return requireFromPackage('cosift/package.json').version;
}
