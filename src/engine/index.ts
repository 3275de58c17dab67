export type { NativeLineProblem, Prepared } from './binding.js';
export { Engine, type EngineDescription, type EngineSettings } from './engine.js';
export { checkJson, kernelName, sqliteVersion } from './module.js';
