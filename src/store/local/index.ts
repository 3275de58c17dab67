export type { NativeLineProblem, Prepared } from './binding.js';
export {
  type DatabaseProgress,
  type Embedded,
  Engine,
  type EngineDescription,
  type EngineEvents,
  type EngineSettings,
} from './engine.js';
export { checkJson, kernelName, sqliteVersion } from './module.js';
