/** The types of the options of the library. They lead to no type of Node or of the engine. */

export type { ModelCall, ModelFunction, ModelSource } from '../embedding/index.js';
