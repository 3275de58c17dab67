/** The types of the options of the library. They lead to no type of Node or of the engine. */

export type { ModelCall, ModelFunction, ModelSource } from '../embedding/index.js';

/** How far the opening of a directory has come. */
export interface OpenProgress {
  /** Number of databases. */
  databases: number;
  /** Number of databases that are loaded. */
  loaded: number;
  /** Number of records that are loaded. */
  records: number;
}
