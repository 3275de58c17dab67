import { parseJson } from '../../schema/index.js';
import type { Examination, ExamineCall } from '../record-store.js';
import { type DoctorProgress, type NativeEngine, native, type StopFlag } from './binding.js';
import { withStopFlag } from './stop-flag.js';
import { unwrap } from './unwrap.js';

const PROGRESS_MS = 200;

const IDENTITY_ADVICE =
  'delete the file acknowledged of the copy: the next start gives its change feed a new epoch';

export async function runExamination(
  { signal, onProgress }: ExamineCall,
  examine: (stop: StopFlag, progress: DoctorProgress) => ReturnType<NativeEngine['examine']>,
): Promise<Examination> {
  const progress = new (native().DoctorProgress)();
  const timer = onProgress && setInterval(() => onProgress(progress.done, progress.records), PROGRESS_MS);
  try {
    const examined = unwrap(await withStopFlag(signal, (stop) => examine(stop, progress)));
    return { ...parseJson<Omit<Examination, 'identityAdvice'>>(examined), identityAdvice: IDENTITY_ADVICE };
  } finally {
    clearInterval(timer);
  }
}
