import { isCode } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import type { Examination, ExamineCall } from '../../store/record-store.js';
import type { Models } from '../models.js';
import { checkVectors } from './check-vectors.js';

export interface ExamineAllCall {
  signal?: AbortSignal | undefined;
  /** Called a few times a second with the numbers of records that were read and that all databases so far have. */
  onProgress?: ((done: number, records: number) => void) | undefined;
}

/** Examines databases one after the other, and yields the checks of each. */
export async function* examineAll(
  ids: readonly string[],
  examine: (id: string, call: ExamineCall) => Promise<Examination>,
  models: Models,
  { signal, onProgress }: ExamineAllCall,
): AsyncGenerator<DoctorCheck, void, undefined> {
  const databases = new Map<string, string>();
  const before = { done: 0, records: 0 };
  for (const id of ids) {
    let last = { done: 0, records: 0 };
    const report = (done: number, records: number) => {
      last = { done, records };
      onProgress?.(before.done + done, before.records + records);
    };
    const examination = await examine(id, { signal, onProgress: report }).catch((error: unknown) => {
      if (!isCode(error, 'database_not_found')) throw error;
      return undefined;
    });
    // It was dropped since its id was listed.
    if (examination === undefined) continue;
    before.done += last.records;
    before.records += last.records;
    yield* examination.checks;
    yield* await checkVectors(id, examination, models, signal);
    const { identity, identityAdvice } = examination;
    const same = identity === null ? undefined : databases.get(identity);
    if (same !== undefined) yield twin(id, same, identityAdvice);
    else if (identity !== null) databases.set(identity, id);
  }
}

function twin(id: string, other: string, advice: string): DoctorCheck {
  const detail = `the database is a copy of "${other}": clients that follow the change feeds cannot tell them apart`;
  return {
    check: 'identity',
    database: id,
    status: 'problem',
    detail,
    problems: [{ detail }],
    advice,
  };
}
