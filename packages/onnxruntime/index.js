import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The package for this platform, then the original package, which has all platforms. */
const PACKAGES = [`@cosift/onnxruntime-${process.platform}-${process.arch}`, 'onnxruntime-node'];

function load() {
  const failures = [];
  for (const name of PACKAGES) {
    try {
      return require(name);
    } catch (cause) {
      failures.push(Object.assign(new Error(`${name}: ${cause.message}`, { cause }), { package: name }));
    }
  }
  throw new AggregateError(failures, `none of these packages could be loaded: ${PACKAGES.join(', ')}`);
}

export const { env, InferenceSession, Tensor } = load();
