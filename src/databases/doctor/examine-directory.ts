import path from 'node:path';
import type { DoctorCheck } from '../../schema/index.js';
import { LocalDoctor } from '../../store/local/index.js';
import { keptModels } from '../kept-models.js';
import { type ModelSources, Models } from '../models.js';
import { type ExamineAllCall, examineAll } from './examine-all.js';

export interface ExamineDirectoryOptions {
  directory: string;
  /** Whether to repair what is derived from the records. Otherwise nothing in the directory changes. */
  repair: boolean;
  models?: ModelSources | undefined;
  /** The checks beside those of the databases. They run while the directory is locked. */
  files: () => AsyncIterable<DoctorCheck>;
}

/**
 * Examines a data directory that no service has open.
 *
 * @throws {CosiftError} `data_locked` when another process has the directory open.
 */
export async function* examineDirectory(
  { directory, repair, models: sources, files }: ExamineDirectoryOptions,
  call: ExamineAllCall,
): AsyncGenerator<DoctorCheck, void, undefined> {
  const models = new Models({ ...keptModels(directory), ...sources }, 1);
  const doctor = LocalDoctor.open(path.resolve(directory), repair);
  try {
    yield* files();
    yield* examineAll(doctor.databases(), (id, of) => doctor.examine(id, of), models, call);
  } finally {
    doctor.close();
    await models.close();
  }
}
