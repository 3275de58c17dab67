import { CosiftError } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import { callerOf, sees } from '../admission/access.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import type { Caller } from '../keys/caller.js';
import type { Dependencies, Handlers } from './dependencies.js';

/** Handler of the doctor. One request at a time is served, because it reads every record. */
export function doctorHandlers({ backend, keys, inFlight }: Dependencies): Handlers {
  let isRunning = false;

  async function* checks(caller: Caller, signal: AbortSignal): AsyncGenerator<DoctorCheck> {
    if (isRunning) throw new CosiftError('busy', 'the doctor is running for another request');
    isRunning = true;
    try {
      const failure = await keys.failure();
      yield failure === undefined
        ? { check: 'keys', status: 'ok', detail: 'the keys can be read' }
        : {
            check: 'keys',
            status: 'problem',
            detail: 'the keys cannot be read: only the admin key is valid',
            problems: [{ detail: 'the keys cannot be read' }],
            advice: 'put a sound copy of keys.json in its place, or remove it and issue the keys again',
          };
      const ids = (await backend.databases(signal)).map(({ id }) => id).filter((id) => sees(caller, id));
      yield* backend.examine(ids, { signal });
    } finally {
      isRunning = false;
    }
  }

  return {
    async doctor(request, reply) {
      return sendStream(request, reply, inFlight.closing, {
        type: NDJSON,
        open: (signal) => checks(callerOf(request), signal),
        lastLine: (error) => ({ error }),
      });
    },
  };
}
