export { epoch } from './changes.js';
export * from './check.js';
export type { ComponentName } from './components.js';
export { COMPONENTS } from './components.js';
export { shown } from './details.js';
export type { Operator } from './filter.js';
export * from './ids.js';
export { ACTIONS } from './keys.js';
export type { Limits } from './limits.js';
export {
  DEFAULTS,
  defaultThreshold,
  jsonDepth,
  jsonValues,
  LIMITS,
  MAX_EMBEDDED_TEXTS,
  MAX_SEARCHES,
  MAX_WORD_COLUMNS,
  searchesBytes,
} from './limits.js';
export { MAP_POINTS } from './map.js';
export * from './models.js';
export { checkDirectory, checkStore } from './open-options.js';
export { checkOptions } from './options.js';
export { parseJson } from './parse-json.js';
export { PROBLEM_FACTS } from './problem.js';
export type * from './public-types.js';
export { didYouMean, suggest } from './suggest.js';
export { time } from './time.js';
export type { DeliveryFailure } from './webhooks.js';
